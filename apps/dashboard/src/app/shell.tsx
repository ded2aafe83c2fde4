/** The frame of every page: where one can go, and how the connection is. */
import {
  ListMusic,
  MessageSquareWarning,
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

import { reviewsHref, runsHref, submitHref, toolsHref, tracesHref } from '../api/links.ts'
import { useMissingScope, useIdentity } from '../api/use-identity.ts'
import { ConnectionNote } from '../features/access/connection-note.tsx'
import { cx } from '../lib/cx.ts'
import { usePlace } from '../lib/router.ts'
import { usePageTitle } from '../lib/use-page-title.ts'
import { access, forgetKey } from '../api/access.ts'
import { formatInstant, plural } from '../lib/format.ts'
import { useStore } from '../lib/store.ts'
import { Menu, type MenuItem } from '../ui/layout/menu.tsx'
import { isTextEntry } from '../lib/is-text-entry.ts'
import { Dialog } from '../ui/layout/dialog.tsx'
import { useKeptReviews, useOpenReviews } from '../features/reviews/use-open-reviews.ts'
import { chooseTheme, theme } from './theme.ts'
import styles from './shell.module.css'
import unseen from '../ui/show/unseen.module.css'

import type { Identity } from '@tutti/protocol'

const PLACES = [
  { name: 'runs', label: 'Runs', href: runsHref(), icon: <ListMusic /> },
  { name: 'reviews', label: 'Reviews', href: reviewsHref(), icon: <MessageSquareWarning /> },
  { name: 'new', label: 'New run', href: submitHref(), icon: <Plus /> },
  { name: 'tools', label: 'Tools', href: toolsHref(), icon: <Wrench /> },
  { name: 'traces', label: 'Traces', href: tracesHref(), icon: <FileClock /> },
] as const

export function Shell({ children }: { readonly children: ReactNode }) {
  const {
    path: [here = 'runs', inner],
  } = usePlace()
  const missing = useMissingScope('runs:write')
  const places = PLACES.filter(({ name }) => name !== 'new' || missing === undefined)
  const label = PLACES.find(({ name }) => name === here)?.label ?? 'No such page'
  // The page of a run has a title of its own.
  usePageTitle(here === 'runs' && inner !== undefined ? undefined : `${label} — Tutti`)
  return (
    <div className={styles['shell']}>
      <a
        href="#main"
        className={styles['skip']}
        onClick={(event) => {
          // The hash of the address is the place of the page.
          event.preventDefault()
          document.querySelector<HTMLElement>('main')?.focus()
        }}
      >
        Skip to the page
      </a>
      <header className={styles['bar']}>
        <a href={runsHref()} className={styles['brand']} aria-label="Tutti, to the runs">
          <svg viewBox="0 0 16 16" aria-hidden>
            <path d="M2.5 11a5.5 5.5 0 0 1 11 0" />
            <circle cx="8" cy="10.6" r="1.7" />
          </svg>
          <span>Tutti</span>
        </a>
        <nav aria-label="Pages" className={styles['nav']}>
          {places.map(({ name, label, href, icon }) => (
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

/** The menu at the end of the bar. */
function Preferences() {
  const chosen = useStore(theme)
  const { key } = useStore(access)
  const themes: readonly MenuItem[] = [
    { label: 'Light', icon: <Sun />, onChoose: () => chooseTheme('light') },
    { label: 'Dark', icon: <Moon />, onChoose: () => chooseTheme('dark') },
    { label: 'As the system', icon: <Monitor />, onChoose: () => chooseTheme('system') },
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

/** The name of the key, its scopes and its end. */
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

/** Keys and what they do, by the part of the dashboard where they work. */
const SHORTCUTS = [
  { where: 'Everywhere', keys: [['?', 'Show these shortcuts']] },
  {
    where: 'Runs',
    keys: [
      ['/', 'Search'],
      ['j or ↓', 'Go to the first run'],
      ['↑ ↓', 'Previous or next run'],
      ['Enter', 'Open the run'],
    ],
  },
  {
    where: 'Graph and timeline of a run',
    keys: [
      ['← → ↑ ↓', 'Next task, turn or tool call in that direction'],
      ['Home, End', 'First or last'],
      ['+ − 0', 'Zoom in, zoom out, show everything'],
      ['Escape', 'Leave the timeline'],
    ],
  },
  {
    where: 'Forms and reviews',
    keys: [
      ['Ctrl or ⌘ + Enter', 'Send'],
      ['Escape', 'Back'],
    ],
  },
] as const

/** Listens for `?` and shows the shortcuts. */
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

/** The number beside "Reviews"; nothing when there are none. It is told when it changes. */
function ReviewCount() {
  useKeptReviews()
  const { data } = useOpenReviews()
  const count = data?.open.length ?? 0
  const words = count === 0 ? 'No review waits' : `${plural(count, 'review')} waiting`
  // What is read out when it changes is no part of the link that the number is in.
  const told = (
    <p role="status" className={unseen['unseen']}>
      {data === undefined ? '' : words}
    </p>
  )
  return (
    <>
      {createPortal(told, document.body)}
      {count > 0 && (
        <span className={styles['count']}>
          {count}
          <span className={unseen['unseen']}> waiting</span>
        </span>
      )}
    </>
  )
}
