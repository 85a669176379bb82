import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';

export interface Line {
  readonly label: string;
  /** The name of a colour defined in the style sheet. */
  readonly colour: string;
  readonly values: readonly (number | null)[];
}

interface Props {
  readonly title: string;
  /** A description for screen readers. */
  readonly summary: string;
  readonly seconds: readonly number[];
  readonly lines: readonly Line[];
}

const HEIGHT = 160;
const AXIS_HEIGHT = 24;
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** A line chart over time, in the colours of the light or dark scheme. */
export function Chart({ title, summary, seconds, lines }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const data = [seconds, ...lines.map(({ values }) => values)] as uPlot.AlignedData;
  // Run this effect only once. The chart is rebuilt only when the colour scheme changes.
  useEffect(() => {
    const element = place.current as HTMLDivElement;
    const make = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(element.clientWidth, lines), data, element);
    };
    make();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', make);
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    return () => {
      dark.removeEventListener('change', make);
      resized.disconnect();
      plot.current?.destroy();
    };
  }, []);
  useEffect(() => plot.current?.setData(data), [data]);
  return (
    <figure class="card chart">
      <figcaption>
        {title}
        <span class="legend">
          {lines.map(({ label, colour }) => (
            <span key={label}>
              <i class={`swatch ${colour}`} aria-hidden="true" />
              {label}
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={place} role="img" aria-label={summary} />
    </figure>
  );
}

function optionsOf(width: number, lines: readonly Line[]): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const axis: uPlot.Axis = {
    stroke: colour('quiet'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [
      {
        ...axis,
        size: AXIS_HEIGHT,
        space: 90,
        values: (_, times) => times.map((seconds) => CLOCK.format(seconds * 1000)),
      },
      { ...axis, size: 48 },
    ],
    series: [
      {},
      ...lines.map((line) => ({ label: line.label, stroke: colour(line.colour), width: 2, points: { show: false } })),
    ],
  };
}
