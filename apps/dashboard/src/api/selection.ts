/** The selected part of a run: a task, one of its model turns, or a tool call of a turn. */
export interface Selection {
  readonly taskName: string
  readonly iterationIndex?: number
  readonly toolCallId?: string
}
