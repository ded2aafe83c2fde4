/** Reads a text argument: the text itself, `@file`, or `-` for standard input. */
import { errorMessage } from '@tutti/core/internal'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'

import { CommandError } from '../command-error.ts'

import type { CommandIo } from '../../terminal/command-io.ts'

/** Returns the text of an argument. @throws {CommandError} USAGE when the file cannot be read. */
export async function readGiven(given: string, io: CommandIo): Promise<string> {
  if (given === '-') return text(io.stdin)
  return given.startsWith('@') ? readGivenFile(given.slice(1), io) : given
}

/** Reads a file, or standard input for `-`. @throws {CommandError} USAGE when it cannot be read. */
export async function readGivenFile(path: string, io: CommandIo): Promise<string> {
  if (path === '-') return text(io.stdin)
  try {
    return await readFile(resolve(io.cwd, path), 'utf8')
  } catch (error) {
    throw new CommandError('USAGE', `Cannot read "${path}": ${errorMessage(error)}`)
  }
}
