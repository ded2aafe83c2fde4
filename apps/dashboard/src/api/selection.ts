/** What of a run the reader looks at: a task, a model turn of it, a tool call of that. */
export interface Selection {
  readonly taskName: string
  readonly iterationIndex?: number
  readonly toolCallId?: string
}
