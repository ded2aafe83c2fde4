/** Buttons, and links that look like them. */
import { cx } from '../../lib/cx.ts'
import styles from './button.module.css'

import type { ComponentProps, ReactNode } from 'react'

/** Emphasis of a button; `danger` marks actions that end or remove something. */
export type ButtonKind = 'primary' | 'plain' | 'quiet' | 'danger'

interface Look {
  /** @default 'plain' */
  readonly kind?: ButtonKind
  /** @default 'm' */
  readonly size?: 's' | 'm'
  /** Shown before the label. */
  readonly icon?: ReactNode
}

/** A button. While `busy`, its action is in progress and it cannot be pressed. */
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
      // `disabled` would take the focus from the button; `aria-disabled` does not.
      aria-disabled={busy || undefined}
      onClick={busy ? undefined : rest.onClick}
      className={cx(styles['button'], styles[kind], styles[size], className)}
    >
      {icon}
      {children}
    </button>
  )
}

/** A button with only an icon; `label` is its accessible name and its tooltip. */
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
