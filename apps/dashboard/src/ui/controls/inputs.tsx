/** Native input controls with a common style. */
import { cx } from '../../lib/cx.ts'
import styles from './inputs.module.css'

import type { ComponentProps, ReactNode } from 'react'

export function TextInput({ className, ...rest }: ComponentProps<'input'>) {
  return <input type="text" {...rest} className={cx(styles['input'], className)} />
}

/**
 * A text area that grows with its content; `code` selects a monospaced font and turns off spell
 * checking.
 */
export function TextArea({
  className,
  code = false,
  ...rest
}: ComponentProps<'textarea'> & { readonly code?: boolean }) {
  return (
    <textarea
      rows={3}
      spellCheck={!code}
      {...rest}
      className={cx(styles['input'], styles['area'], code && styles['code'], className)}
    />
  )
}

/** A select; `children` are its `<option>` elements. */
export function Select({ className, ...rest }: ComponentProps<'select'>) {
  return <select {...rest} className={cx(styles['input'], styles['select'], className)} />
}

export function Checkbox({
  children,
  ...rest
}: ComponentProps<'input'> & { readonly children: ReactNode }) {
  return (
    <label className={styles['check']}>
      <input type="checkbox" {...rest} />
      <span>{children}</span>
    </label>
  )
}
