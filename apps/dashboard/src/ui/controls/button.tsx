/** Buttons, and links that look like them. */
import { cx } from '../../lib/cx.ts'
import styles from './button.module.css'

import type { ComponentProps, ReactNode } from 'react'

/** How much a button asks to be pressed; `danger` ends or removes something. */
export type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger'

interface Look {
  /** @default 'plain' */
  readonly kind?: ButtonKind
  /** @default 'm' */
  readonly size?: 's' | 'm'
  /** Before the words. */
  readonly icon?: ReactNode
}

/** A button. `busy` says that its action is under way; it cannot be pressed meanwhile. */
export function Button({
  kind = 'plain',
  size = 'm',
  icon,
  busy = false,
  className,
  children,
  ...rest
}: Look & ComponentProps<'button'> & { readonly busy?: boolean }) {
  return (
    <button
      type="button"
      {...rest}
      // A button that is busy keeps the focus, which `disabled` would take from it.
      aria-disabled={busy || undefined}
      onClick={busy ? undefined : rest.onClick}
      className={cx(styles['button'], styles[kind], styles[size], className)}
    >
      {icon}
      {children}
    </button>
  )
}

/** A button that is an icon alone; `label` is its name, and what is shown when one points at it. */
export function IconButton({
  label,
  icon,
  kind = 'quiet',
  className,
  ...rest
}: Omit<ComponentProps<'button'>, 'children'> & {
  readonly label: string
  readonly icon: ReactNode
  readonly kind?: ButtonKind
}) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      title={label}
      className={cx(styles['button'], styles[kind], styles['icon'], className)}
    >
      {icon}
    </button>
  )
}

/** A link that looks like a button. */
export function LinkButton({
  kind = 'plain',
  size = 'm',
  icon,
  className,
  children,
  ...rest
}: Look & ComponentProps<'a'>) {
  return (
    <a {...rest} className={cx(styles['button'], styles[kind], styles[size], className)}>
      {icon}
      {children}
    </a>
  )
}
