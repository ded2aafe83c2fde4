/** The frame of every page: where one can go, and how the connection is. */
import { ListMusic, MessageSquareWarning, Plus, FileClock, Wrench } from 'lucide-react'

import { reviewsHref, runsHref, submitHref, toolsHref, tracesHref } from '../api/links.ts'
import { useMissingScope } from '../api/use-identity.ts'
import { ConnectionNote } from '../features/access/connection-note.tsx'
import { ReviewCount } from '../features/reviews/review-count.tsx'
import { cx } from '../lib/cx.ts'
import { usePlace } from '../lib/router.ts'
import { usePageTitle } from '../lib/use-page-title.ts'
import { KeyboardHelp } from './keyboard-help.tsx'
import { Preferences } from './preferences.tsx'
import styles from './shell.module.css'

import type { ReactNode } from 'react'

const PLACES = [
  { name: 'runs', label: 'Runs', href: runsHref(), icon: <ListMusic /> },
  { name: 'reviews', label: 'Reviews', href: reviewsHref(), icon: <MessageSquareWarning /> },
  { name: 'new', label: 'New run', href: submitHref(), icon: <Plus /> },
  { name: 'tools', label: 'Tools', href: toolsHref(), icon: <Wrench /> },
  { name: 'traces', label: 'Traces', href: tracesHref(), icon: <FileClock /> },
] as const

/** The frame, round the page. */
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
