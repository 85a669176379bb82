/** Plot as inline SVG. Its colours come from the page (`--s0` and so on), for light and dark themes. */
export interface Axis {
  readonly label: string;
  readonly isLog?: boolean;
}

export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

interface Scale {
  at(value: number): number;
  readonly ticks: readonly number[];
}

/** The width of a phone's screen, so that charts are not scaled down there and their text is as large as the page's. */
const WIDTH = 360;
const HEIGHT = 320;
const LEFT = 46;
const RIGHT = 14;
const TOP = 28;
const BOTTOM = 42;
const TICKS = 5;
const X_TICKS_MAX = 8;
/** Minimum distance between labels of lines that end close together. */
const LABEL_STEP = 15;
const LABEL_ABOVE = 7;
/** Height of a bar with its name above it and its value after it. */
const BAR = 40;
const BAR_HEIGHT = 14;
const BAR_TOP = 14;
const VALUE_ROOM = 96;

/** Lines through the measured points, each with its name at the end. The x ticks are the measured values. */
export function lineChart(x: Axis, y: Axis, series: readonly Series[]): string {
  const points = series.flatMap((one) => one.points);
  const measuredAt = thinned([...new Set(points.map(([value]) => value))].sort((a, b) => a - b));
  const across = scaleOf(x, measuredAt, LEFT, WIDTH - RIGHT, measuredAt);
  const up = scaleOf(
    y,
    points.map(([, value]) => value),
    HEIGHT - BOTTOM,
    TOP,
  );
  const grid = up.ticks.map(
    (tick) =>
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${up.at(tick)}" y2="${up.at(tick)}"/>` +
      text(LEFT - 8, up.at(tick) + 4, short(tick), 'end'),
  );
  const ticks = across.ticks.map((tick) => text(across.at(tick), HEIGHT - BOTTOM + 18, short(tick), 'middle'));
  const labels = [
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - BOTTOM + 36, x.label, 'middle'),
    text(0, 11, y.label, 'start'),
  ];
  const lines = series.map(({ points }, i) => {
    const places = points.map(([a, b]) => [across.at(a), up.at(b)] as const);
    const dots = places.map(([a, b]) => `<circle cx="${a}" cy="${b}" r="3.5" fill="${colour(i)}"/>`);
    return `<polyline fill="none" stroke="${colour(i)}" stroke-width="2" points="${places.join(' ')}"/>${dots.join('')}`;
  });
  const ends = series.map(({ points }) => up.at(points.at(-1)?.[1] ?? 0) - LABEL_ABOVE);
  const names = apart(ends).map((y, i) => text(WIDTH - RIGHT, y, series[i]?.name ?? '', 'end', colour(i)));
  return svg(HEIGHT, [...grid, ...ticks, ...labels, ...names, ...lines].join(''));
}

/** The first and the last value, and as many evenly spaced ones in between as fit. */
function thinned(values: readonly number[]): number[] {
  const step = Math.ceil((values.length - 1) / X_TICKS_MAX) || 1;
  return values.filter((_, i) => i === values.length - 1 || (i % step === 0 && i + step / 2 < values.length));
}

/**
 * Moves labels apart vertically so that they do not overlap. Returns the new heights in the given order. A label moves
 * up if possible, and down only where the chart's top leaves no space.
 */
export function apart(heights: readonly number[]): number[] {
  const order = heights.map((height, i) => ({ height, i })).sort((a, b) => b.height - a.height);
  const placed = heights.slice();
  let most = HEIGHT - BOTTOM - LABEL_ABOVE;
  for (const { height, i } of order) {
    placed[i] = Math.min(height, most);
    most = (placed[i] as number) - LABEL_STEP;
  }
  let least = TOP;
  for (const { i } of order.reverse()) {
    placed[i] = Math.max(placed[i] as number, least);
    least = (placed[i] as number) + LABEL_STEP;
  }
  return placed;
}

/** Horizontal bars, one below the other, each with its name above it. */
export function barChart(unit: string, bars: readonly (readonly [name: string, value: number])[]): string {
  const most = Math.max(...bars.map(([, value]) => value));
  const rows = bars.map(([name, value], i) => {
    const y = BAR_TOP + i * BAR;
    const width = Math.max((value / most) * (WIDTH - VALUE_ROOM), 1);
    return [
      text(0, y, name, 'start'),
      `<rect x="0" y="${y + 6}" width="${width.toFixed(1)}" height="${BAR_HEIGHT}" fill="${colour(0)}"/>`,
      text(width + 6, y + 6 + BAR_HEIGHT - 3, `${short(value)} ${unit}`, 'start'),
    ].join('');
  });
  return svg(BAR_TOP + bars.length * BAR, rows.join(''));
}

export function escapeHtml(value: string): string {
  return value.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * Scale with its own ticks if `own` is given, otherwise with round numbers around the values. Starts at 0 unless it is
 * logarithmic.
 */
function scaleOf({ isLog = false }: Axis, values: readonly number[], from: number, to: number, own?: number[]): Scale {
  const ticks = own ?? (isLog ? powers(Math.min(...values), Math.max(...values)) : steps(Math.max(...values)));
  const project = isLog ? Math.log10 : (value: number) => value;
  const start = isLog ? project(ticks[0] as number) : 0;
  const span = project(ticks.at(-1) as number) - start || 1;
  const at = (value: number) => Math.round((from + ((project(value) - start) / span) * (to - from)) * 10) / 10;
  return { at, ticks };
}

/** Powers of ten that enclose both values. */
function powers(least: number, most: number): number[] {
  const first = Math.floor(Math.log10(least));
  const last = Math.max(Math.ceil(Math.log10(most)), first + 1);
  return Array.from({ length: last - first + 1 }, (_, i) => 10 ** (first + i));
}

/** Ticks from 0 to at least the largest value, spaced by 1, 2 or 5 times a power of ten. */
function steps(largest: number): number[] {
  const rough = largest / TICKS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) as number;
  return Array.from({ length: Math.ceil(largest / step) + 1 }, (_, i) => i * step);
}

/** A human-readable number with three significant digits. */
export function short(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))} M`;
  if (value >= 1e4) return `${Number((value / 1e3).toPrecision(3))} k`;
  return String(Number(value.toPrecision(3)));
}

const colour = (i: number) => `var(--s${i % 6})`;

function text(x: number, y: number, value: string, anchor: 'start' | 'middle' | 'end', fill?: string): string {
  const style = fill === undefined ? '' : ` class="name" style="fill: ${fill}"`;
  return `<text x="${x}" y="${y}" text-anchor="${anchor}"${style}>${escapeHtml(value)}</text>`;
}

function svg(height: number, content: string): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img">${content}</svg>`;
}
