/** Tabs. The arrow keys move from tab to tab (WAI-ARIA APG, Tabs). */
import { useId, useRef, type KeyboardEvent, type ReactNode } from 'react'

import { cx } from '../../lib/cx.ts'
import styles from './tabs.module.css'

export interface Tab<T extends string> {
  readonly value: T
  readonly label: ReactNode
}

const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 }

/** The tab bar and the panel of the selected tab. */
export function Tabs<T extends string>({
  label,
  value,
  tabs,
  onChange,
  aside,
  children,
}: {
  readonly label: string
  readonly value: T
  readonly tabs: readonly Tab<T>[]
  readonly onChange: (value: T) => void
  /** Shown at the end of the bar. */
  readonly aside?: ReactNode
  readonly children: ReactNode
}) {
  const id = useId()
  const bar = useRef<HTMLDivElement>(null)
  const choose = (index: number): void => {
    const tab = tabs.at(index % tabs.length)
    if (tab === undefined) return
    onChange(tab.value)
    bar.current?.querySelector<HTMLElement>(`[data-tab="${tab.value}"]`)?.focus()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = tabs.findIndex((tab) => tab.value === value)
    const step = STEPS[event.key]
    const next = event.key === 'Home' ? 0 : event.key === 'End' ? -1 : step && at + step
    if (next === undefined) return
    event.preventDefault()
    choose(next)
  }
  return (
    <div className={styles['tabs']}>
      <div className={styles['head']}>
        <div role="tablist" aria-label={label} ref={bar} className={styles['bar']}>
          {tabs.map((tab) => {
            const isChosen = tab.value === value
            return (
              <button
                key={tab.value}
                type="button"
                role="tab"
                id={`${id}-${tab.value}`}
                data-tab={tab.value}
                aria-selected={isChosen}
                aria-controls={`${id}-panel`}
                tabIndex={isChosen ? 0 : -1}
                className={cx(styles['tab'], isChosen && styles['chosen'])}
                onClick={() => onChange(tab.value)}
                onKeyDown={onKeyDown}
              >
                {tab.label}
              </button>
            )
          })}
        </div>
        {aside}
      </div>
      <div
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${value}`}
        className={styles['panel']}
      >
        {children}
      </div>
    </div>
  )
}
