/** Options of file tools, with their defaults and checks. */
import { createSandbox, type Sandbox } from './sandbox.ts'

export interface FileOptions {
  /** Directory that the tool is confined to; it must exist. */
  readonly directory: string
  /** Maximum size of a file, in bytes. @default 1048576 (1 MiB) */
  readonly maxBytes?: number
}

/** Valid {@link FileOptions} with their defaults. */
export interface ResolvedFileOptions {
  readonly sandbox: Sandbox
  readonly maxBytes: number
}

interface GivenFileOptions {
  readonly directory: string
  readonly maxBytes: number | undefined
}

/** More text than most models can process. */
const DEFAULT_MAX_BYTES = 1024 * 1024

/**
 * Fills in the defaults.
 *
 * @throws {TypeError} when the directory does not exist.
 * @throws {RangeError} when `maxBytes` is not positive.
 */
export function resolveFileOptions(
  { directory, maxBytes = DEFAULT_MAX_BYTES }: GivenFileOptions,
  toolName: string,
): ResolvedFileOptions {
  if (!(maxBytes > 0)) {
    throw new RangeError(`Cannot define tool "${toolName}": maxBytes must be > 0, got ${maxBytes}`)
  }
  return { sandbox: createSandbox(directory, toolName), maxBytes }
}
