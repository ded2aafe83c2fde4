/** Reads text and JSON from sources that a command line names: `@file`, or `-` for standard input. */
import { isJsonObject } from '@tutti/protocol/internal'
import { errorMessage } from '@tutti/core/internal'

import { CommandError } from '../command-error.ts'
import { readGivenFile } from './read-given.ts'

import type { CommandIo } from '../../terminal/command-io.ts'

/** Reads the sources that options name. Standard input can be read once, so only one option can use it. */
export class GivenValues {
  readonly #io: CommandIo
  #stdinOption: string | undefined

  constructor(io: CommandIo) {
    this.#io = io
  }

  /** Reads a file; `-` is standard input. */
  async file(path: string, option: string): Promise<string> {
    if (path === '-' && this.#stdinOption !== undefined) {
      throw new CommandError(
        'USAGE',
        `${this.#stdinOption} and ${option} cannot both read standard input`,
      )
    }
    if (path === '-') this.#stdinOption = option
    return readGivenFile(path, this.#io)
  }

  /** Parses JSON from `@file`, from `-`, or from the value itself. */
  async json(value: string, option: string): Promise<unknown> {
    const isNamed = value === '-' || value.startsWith('@')
    const text = isNamed ? await this.file(value.replace(/^@/, ''), option) : value
    try {
      return JSON.parse(text)
    } catch (error) {
      throw new CommandError('USAGE', `${option} must be JSON: ${errorMessage(error)}`, [
        'JSON can also be read from a file (@file.json) or from standard input (-)',
      ])
    }
  }

  /** Like `json`, for a JSON object. */
  async object(value: string, option: string): Promise<Readonly<Record<string, unknown>>> {
    const parsed = await this.json(value, option)
    if (isJsonObject(parsed)) return parsed
    throw new CommandError('USAGE', `${option} must be a JSON object`)
  }
}
