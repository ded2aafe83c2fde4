/** Texts and JSON that a command line names instead of holding them: `@file`, and `-` for standard input. */
import { isJsonObject } from '@tutti/protocol'
import { errorMessage } from '@tutti/core'

import { CommandError } from '../command-error.ts'
import { readGivenFile } from '../text/read-given.ts'

import type { CommandIo } from '../command-io.ts'

/** Reads what options name. Standard input is there once, so that two options cannot both have it. */
export class GivenValues {
  readonly #io: CommandIo
  #taker: string | undefined

  constructor(io: CommandIo) {
    this.#io = io
  }

  /** The text of a file; `-` is standard input. */
  async file(path: string, option: string): Promise<string> {
    if (path === '-' && this.#taker !== undefined) {
      throw new CommandError(
        'USAGE',
        `${this.#taker} and ${option} cannot both read standard input`,
      )
    }
    if (path === '-') this.#taker = option
    return readGivenFile(path, this.#io)
  }

  /** JSON from `@file`, `-`, or the value itself. */
  async json(value: string, option: string): Promise<unknown> {
    const isNamed = value === '-' || value.startsWith('@')
    const text = isNamed ? await this.file(value.replace(/^@/, ''), option) : value
    try {
      return JSON.parse(text)
    } catch (error) {
      throw new CommandError('USAGE', `${option} must be JSON: ${errorMessage(error)}`, [
        'JSON may also come from a file, as @file.json, or from standard input, as -',
      ])
    }
  }

  /** A JSON object likewise. */
  async object(value: string, option: string): Promise<Readonly<Record<string, unknown>>> {
    const parsed = await this.json(value, option)
    if (isJsonObject(parsed)) return parsed
    throw new CommandError('USAGE', `${option} must be a JSON object`)
  }
}
