/** A form that Ctrl+Enter also sends. */
import type { ComponentProps } from 'react'

export function SendForm({
  isBlocked,
  onSend,
  onEscape,
  ...rest
}: Omit<ComponentProps<'form'>, 'onSubmit' | 'onKeyDown'> & {
  /** Whether it cannot be sent now. */
  readonly isBlocked: boolean
  readonly onSend: () => void
  readonly onEscape?: () => void
}) {
  return (
    <form
      {...rest}
      onSubmit={(event) => {
        event.preventDefault()
        if (!isBlocked) onSend()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
          event.preventDefault()
          event.currentTarget.requestSubmit()
        }
        if (event.key === 'Escape') onEscape?.()
      }}
    />
  )
}
