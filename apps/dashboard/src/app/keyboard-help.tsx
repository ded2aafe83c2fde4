/** The keyboard shortcuts of the dashboard, behind the key `?`. */
import { useEffect, useState } from 'react'

import { isTextEntry } from '../lib/is-text-entry.ts'
import { Dialog } from '../ui/layout/dialog.tsx'
import styles from './keyboard-help.module.css'

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
export function KeyboardHelp() {
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
