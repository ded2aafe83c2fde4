/** What `tutti export` can write. */

/** Names of the formats. */
export const EXPORT_FORMATS = ['trace', 'dag', 'run', 'events'] as const

/** A format. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** What is written, and where to. */
export interface ExportSettings {
  readonly format: ExportFormat
  readonly output?: string
}
