/** Formats of `tutti export`. */

/** Names of the formats. */
export const EXPORT_FORMATS = ['trace', 'dag', 'run', 'events'] as const

/** A format. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** Options of `tutti export`. */
export interface ExportSettings {
  readonly format: ExportFormat
  readonly output?: string
}
