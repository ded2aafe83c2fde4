/** The frame of every page: navigation, connection state and preferences. */
import {
  CalendarClock,
  ListMusic,
  MessageSquareWarning,
  MessagesSquare,
  Plus,
  FileClock,
  Wrench,
  BookOpen,
  LogOut,
  Monitor,
  Moon,
  Settings2,
  Sun,
} from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { createPortal } from 'react-dom'

import {
  linkToReviews,
  linkToRuns,
  linkToSchedules,
  linkToSubmit,
  linkToThreads,
  linkToTools,
  linkToTraces,
} from '../api/links.ts'
import { useMissingScope, useIdentity } from '../api/use-identity.ts'
import { ConnectionNote } from '../features/access/connection-note.tsx'
import { cx } from '../lib/cx.ts'
import { useRoute } from '../lib/router.ts'
import { usePageTitle } from '../lib/use-page-title.ts'
import { access, forgetKey } from '../api/access.ts'
import { formatInstant, formatPlural } from '../lib/format.ts'
import { useStore } from '../lib/store.ts'
import { Menu, type MenuItem } from '../ui/layout/menu.tsx'
import { isTextEntry } from '../lib/is-text-entry.ts'
import { Dialog } from '../ui/layout/dialog.tsx'
import { useReviewUpdates, useOpenReviews } from '../features/reviews/use-open-reviews.ts'
import { chooseTheme, theme } from './theme.ts'
import styles from './shell.module.css'
import hidden from '../ui/show/visually-hidden.module.css'

import type { Identity } from '@tutti/protocol'

const PAGES = [
  { name: 'runs', label: 'Runs', href: linkToRuns(), icon: <ListMusic /> },
  { name: 'threads', label: 'Threads', href: linkToThreads(), icon: <MessagesSquare /> },
  { name: 'reviews', label: 'Reviews', href: linkToReviews(), icon: <MessageSquareWarning /> },
  {
    name: 'schedules',
    label: 'Schedules',
    href: linkToSchedules(),
    icon: <CalendarClock />,
  },
  { name: 'new', label: 'New run', href: linkToSubmit(), icon: <Plus /> },
  { name: 'tools', label: 'Tools', href: linkToTools(), icon: <Wrench /> },
  { name: 'traces', label: 'Traces', href: linkToTraces(), icon: <FileClock /> },
] as const

export function Shell({ children }: { readonly children: ReactNode }) {
  const {
    path: [here = 'runs', inner],
  } = useRoute()
  const missing = useMissingScope('runs:write')
  const pages = PAGES.filter(({ name }) => name !== 'new' || missing === undefined)
  const label =
    here === 'compare'
      ? 'Compare runs'
      : (PAGES.find(({ name }) => name === here)?.label ?? 'Page not found')
  // The page of a run sets its own title.
  usePageTitle(here === 'runs' && inner !== undefined ? undefined : `${label} — Tutti`)
  return (
    <div className={styles['shell']}>
      <a
        href="#main"
        className={styles['skip']}
        onClick={(event) => {
          // The URL hash is the route of the page.
          event.preventDefault()
          document.querySelector<HTMLElement>('main')?.focus()
        }}
      >
        Skip to content
      </a>
      <header className={styles['bar']}>
        <a href={linkToRuns()} className={styles['brand']} aria-label="Tutti home">
          <svg viewBox="0 0 16 16" aria-hidden>
            <path d="M2.5 11a5.5 5.5 0 0 1 11 0" />
            <circle cx="8" cy="10.6" r="1.7" />
          </svg>
          <span>Tutti</span>
        </a>
        <nav aria-label="Pages" className={styles['nav']}>
          {pages.map(({ name, label, href, icon }) => (
            <a
              key={name}
              href={href}
              aria-current={here === name ? 'page' : undefined}
              className={cx(styles['place'], here === name && styles['here'])}
            >
              {icon}
              <span>{label}</span>
              {name === 'reviews' && <ReviewCount />}
            </a>
          ))}
        </nav>
        <div className={styles['end']}>
          <ConnectionNote />
          <Preferences />
        </div>
      </header>
      <KeyboardHelp />
      <main id="main" tabIndex={-1} className={styles['main']}>
        {children}
      </main>
    </div>
  )
}

/** The preferences menu at the end of the bar. */
function Preferences() {
  const chosen = useStore(theme)
  const { key } = useStore(access)
  const themes: readonly MenuItem[] = [
    { label: 'Light', icon: <Sun />, onChoose: () => chooseTheme('light') },
    { label: 'Dark', icon: <Moon />, onChoose: () => chooseTheme('dark') },
    { label: 'System', icon: <Monitor />, onChoose: () => chooseTheme('system') },
  ]
  const others = themes.filter((_, index) => ['light', 'dark', 'system'][index] !== chosen)
  const docs = { label: 'API reference', icon: <BookOpen />, onChoose: openDocs }
  const identity = useIdentity()
  const forget = { label: 'Sign out', icon: <LogOut />, onChoose: forgetKey }
  const isSignedIn = key !== undefined && identity !== undefined
  const items = [...others, docs, ...(key === undefined ? [] : [forget])]
  return (
    <Menu
      label="Preferences"
      icon={<Settings2 />}
      items={items}
      note={isSignedIn ? <SignedInAs {...identity} /> : undefined}
    />
  )
}

/** Shows the name, scopes and expiry of the key. */
function SignedInAs({ name, scopes, expiresAt }: Identity) {
  return (
    <>
      Signed in as <b>{name}</b>
      <br />
      {scopes.join(', ')}
      {expiresAt !== undefined && (
        <>
          <br />
          Expires {formatInstant(Date.parse(expiresAt))}
        </>
      )}
    </>
  )
}

function openDocs(): void {
  open('docs', '_blank', 'noopener')
}

/** Keyboard shortcuts, by the part of the dashboard that handles them. */
const SHORTCUTS = [
  { where: 'Everywhere', keys: [['?', 'Show keyboard shortcuts']] },
  {
    where: 'Runs',
    keys: [
      ['/', 'Search'],
      ['j or ↓', 'Go to the first run'],
      ['↑ ↓', 'Go to the previous or next run'],
      ['Enter', 'Open the run'],
    ],
  },
  {
    where: 'Task graph and timeline',
    keys: [
      ['← → ↑ ↓', 'Go to the next task, turn or tool call in that direction'],
      ['Home, End', 'Go to the first or last'],
      ['+ − 0', 'Zoom in, zoom out, show all'],
      ['Escape', 'Leave the timeline'],
    ],
  },
  {
    where: 'Forms and reviews',
    keys: [
      ['Ctrl or ⌘ + Enter', 'Send'],
      ['Escape', 'Go back'],
    ],
  },
] as const

/** Opens the shortcuts when `?` is pressed. */
function KeyboardHelp() {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const onKeyDown = ({ key, target, ctrlKey, metaKey, altKey }: KeyboardEvent): void => {
      if (key === '?' && !ctrlKey && !metaKey && !altKey && !isTextEntry(target)) setOpen(true)
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
  if (!isOpen) return null
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => setOpen(false)}>
      {SHORTCUTS.map(({ where, keys }) => (
        <section key={where}>
          <h3 className={styles['where']}>{where}</h3>
          <dl className={styles['keys']}>
            {keys.map(([key, action]) => (
              <div key={key} className={styles['row']}>
                <dt>
                  <kbd>{key}</kbd>
                </dt>
                <dd>{action}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  )
}

/**
 * The number of open reviews in the navigation; hidden when there are none. Changes are announced.
 */
function ReviewCount() {
  useReviewUpdates()
  const { data } = useOpenReviews()
  const count = data?.open.length ?? 0
  const announced = count === 0 ? 'No open reviews' : formatPlural(count, 'open review')
  // The announcement must not be part of the link that contains the number.
  const status = (
    <p role="status" className={hidden['hidden']}>
      {data === undefined ? '' : announced}
    </p>
  )
  return (
    <>
      {createPortal(status, document.body)}
      {count > 0 && (
        <span className={styles['count']}>
          {count}
          <span className={hidden['hidden']}> open</span>
        </span>
      )}
    </>
  )
}
