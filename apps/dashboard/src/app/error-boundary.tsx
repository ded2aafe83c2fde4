/** What is shown when a part of the page breaks: what it was, and how to go on. */
import { Component, type ReactNode } from 'react'

import { failureText } from '../api/failure.ts'
import { Button } from '../ui/controls/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'

interface State {
  readonly error?: unknown
}

/** Keeps a broken part from taking the rest with it; `place` is what is shown, another one begins anew. */
export class ErrorBoundary extends Component<
  { readonly place?: string; readonly children: ReactNode },
  State
> {
  override state: State = {}

  static getDerivedStateFromError(error: unknown): State {
    return { error }
  }

  override componentDidUpdate({ place }: { readonly place?: string }): void {
    if (place !== this.props.place && this.state.error !== undefined) {
      this.setState({ error: undefined })
    }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      <Notice
        tone="failed"
        title="This part of the page broke"
        actions={<Button onClick={() => location.reload()}>Load the page again</Button>}
      >
        <p>{failureText(error)}</p>
      </Notice>
    )
  }
}
