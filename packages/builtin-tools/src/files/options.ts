/** What file tools are told, with the defaults and the checks. */
import { createSandbox, type Sandbox } from './sandbox.ts'

/** Settings of every file tool. */
export interface FileOptions {
  /** The directory that the tool is confined to; it must exist. */
  readonly directory: string
  /** Largest file in bytes. @default 1048576 (1 MiB) */
  readonly maxBytes?: number
}

/** The same with every value present and checked. */
export interface ResolvedFileOptions {
  readonly sandbox: Sandbox
  readonly maxBytes: number
}

interface GivenFileOptions {
  readonly directory: string
  readonly maxBytes: number | undefined
}

/** More text than most models can take in. */
const DEFAULT_MAX_BYTES = 1024 * 1024

/**
 * Fills in the defaults.
 *
 * @throws {TypeError} when there is no such directory.
 * @throws {RangeError} for a `maxBytes` that is no positive number.
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
