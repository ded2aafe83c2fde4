/**
 * Menu buttons. The arrow keys move through the actions, Escape closes (WAI-ARIA APG, Menu Button).
 */
import { useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'

import { IconButton } from '../controls/button.tsx'
import styles from './menu.module.css'

/** An action of a menu. */
export interface MenuItem {
  readonly label: string
  readonly icon?: ReactNode
  readonly onChoose: () => void
  readonly danger?: boolean
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }

interface MenuProps {
  readonly label: string
  readonly icon: ReactNode
  readonly items: readonly MenuItem[]
  /** Text above the actions. */
  readonly note?: ReactNode
}

/** A button with an icon that opens a menu. */
export function Menu({ label, icon, items, note }: MenuProps) {
  const id = useId()
  const root = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  const button = (): HTMLElement | null => root.current?.querySelector('button') ?? null
  const entries = (): readonly HTMLElement[] => [
    ...(root.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? []),
  ]
  const close = (): void => {
    setOpen(false)
    button()?.focus()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isOpen) return
    if (event.key === 'Escape') {
      event.preventDefault()
      close()
    }
    const step = STEPS[event.key]
    if (step === undefined) return
    event.preventDefault()
    focusNext(entries(), step)
  }
  return (
    <div
      ref={root}
      role="presentation"
      className={styles['root']}
      onKeyDown={onKeyDown}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setOpen(false)
      }}
    >
      <IconButton
        label={label}
        icon={icon}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      />
      {isOpen && (
        <div id={id} role="menu" aria-label={label} className={styles['menu']} ref={placeMenu}>
          {note !== undefined && (
            <p role="presentation" className={styles['note']}>
              {note}
            </p>
          )}
          {items.map((item) => (
            <button
              key={item.label}
              type="button"
              role="menuitem"
              tabIndex={-1}
              className={item.danger === true ? styles['danger'] : styles['item']}
              onClick={() => {
                close()
                item.onChoose()
              }}
            >
              {item.icon}
              {item.label}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}

/** Moves the focus by `step` entries and wraps at the ends. */
function focusNext(entries: readonly HTMLElement[], step: number): void {
  const at = entries.findIndex((entry) => entry === document.activeElement)
  entries.at((at + step + entries.length) % entries.length)?.focus()
}

/** Aligns the menu with the end of its button, or with the start if it would leave the window. */
function placeMenu(menu: HTMLElement | null): void {
  if (menu === null) return
  menu.classList.toggle(styles['fromStart'] ?? '', menu.getBoundingClientRect().left < 0)
  menu.querySelector<HTMLElement>('[role=menuitem]')?.focus()
}
