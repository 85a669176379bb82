import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { signOut, type Visitor } from './api.js';
import { followLink, hrefOf, type Place } from './place.js';
import { ApprovalsView } from './views/approvals.js';
import { AuditView } from './views/audit.js';
import { ClusterView } from './views/cluster.js';
import { FeedsView } from './views/feeds.js';
import { FindView } from './views/find.js';
import { HangingView } from './views/hanging.js';
import { ImportView } from './views/import.js';
import { MoneyView } from './views/money.js';
import { OverviewView } from './views/overview.js';
import { PlayerView } from './views/player.js';
import { PlayersView } from './views/players.js';
import { ProductsView } from './views/products.js';
import { SettingsView } from './views/settings.js';
import { SnapshotsView } from './views/snapshots.js';

interface Props {
  readonly visitor: Visitor;
  readonly place: Place;
  /** Called when the session ends without a sign-out. */
  readonly onEnded: () => void;
  readonly onSignedOut: () => void;
}

const VIEWS: readonly (readonly [view: string, title: string])[] = [
  ['', 'Overview'],
  ['players', 'Players'],
  ['find', 'Find'],
  ['hanging', 'Hanging bets'],
  ['money', 'Money'],
  ['products', 'Products'],
  ['import', 'Import'],
  ['snapshots', 'Snapshots'],
  ['feeds', 'Feeds'],
  ['cluster', 'Cluster'],
  ['approvals', 'Approvals'],
  ['audit', 'Audit'],
  ['settings', 'Settings'],
];

/** A frame around every view, with the navigation and the visitor. */
export function Shell(props: Props) {
  const { visitor, place, onSignedOut } = props;
  const content = useRef<HTMLElement>(null);
  const player = place.view === 'player' ? (place.about.get('name') ?? '') : '';
  const current = place.view === 'player' ? 'players' : place.view;
  const title = VIEWS.find(([view]) => view === current)?.[1] ?? 'Not found';
  useEffect(() => {
    document.title = `${player === '' ? title : player} · walletd`;
  }, [title, player]);
  useEffect(() => {
    document.addEventListener('click', followLink);
    return () => document.removeEventListener('click', followLink);
  }, []);
  const hasMoved = useRef(false);
  // Move the focus, so that screen readers start at the beginning of the new view.
  useEffect(() => {
    if (hasMoved.current) content.current?.focus();
    hasMoved.current = true;
  }, [place.view, player]);
  const menuId = useId();
  const [isMenuOpen, setMenuOpen] = useState(false);
  useEffect(() => setMenuOpen(false), [place]);
  const leave = () => signOut().then(onSignedOut, onSignedOut);
  return (
    <div class="shell">
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href={hrefOf('')}>
          walletd
        </a>
        {/* Replaces the navigation bar on narrow screens; see the style sheet. */}
        <button
          type="button"
          class="menu"
          aria-expanded={isMenuOpen}
          aria-controls={menuId}
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          {title} <span aria-hidden="true">{isMenuOpen ? '▴' : '▾'}</span>
        </button>
        <nav id={menuId} aria-label="Views" class={isMenuOpen ? 'open' : undefined}>
          {VIEWS.map(([view, name]) => (
            <a key={view} href={hrefOf(view)} aria-current={view === current ? 'page' : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <div class="who">
          <span title={visitor.role === 'read' ? 'Can view, but not change anything' : 'Can view and change'}>
            {visitor.name} <small>{visitor.role}</small>
          </span>
          {visitor.csrf !== null && (
            <button type="button" class="quiet" onClick={leave}>
              Sign out
            </button>
          )}
        </div>
      </header>
      <main id="content" ref={content} tabIndex={-1}>
        <View {...props} />
      </main>
    </div>
  );
}

function View({ visitor, place: { view, about }, onEnded }: Props): ComponentChildren {
  const mayChange = visitor.role === 'operate';
  switch (view) {
    case '':
      return <OverviewView onSignedOut={onEnded} />;
    case 'players':
      return <PlayersView prefix={about.get('prefix') ?? ''} />;
    case 'player':
      return (
        <PlayerView
          key={about.get('name')}
          name={about.get('name') ?? ''}
          tab={about.get('show') ?? ''}
          mayChange={mayChange}
        />
      );
    case 'find':
      return <FindView id={about.get('id') ?? ''} />;
    case 'hanging':
      return <HangingView about={about} />;
    case 'money':
      return <MoneyView days={about.get('days') ?? '7'} currency={about.get('currency') ?? ''} mayChange={mayChange} />;
    case 'products':
      return <ProductsView />;
    case 'import':
      return <ImportView mayChange={mayChange} />;
    case 'snapshots':
      return <SnapshotsView mayChange={mayChange} onSignedOut={onEnded} />;
    case 'feeds':
      return <FeedsView />;
    case 'cluster':
      return <ClusterView mayChange={mayChange} />;
    case 'approvals':
      return <ApprovalsView name={visitor.name} mayChange={mayChange} />;
    case 'audit':
      return <AuditView about={about} />;
    case 'settings':
      return <SettingsView show={about.get('show') ?? ''} />;
    default:
      return (
        <>
          <h1>Not found</h1>
          <p class="state">
            The console has no page at this address. <a href={hrefOf('')}>Go to the overview</a>
          </p>
        </>
      );
  }
}
