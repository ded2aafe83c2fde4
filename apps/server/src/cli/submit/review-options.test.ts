import { Command } from 'commander'
import { describe, expect, it } from 'vitest'

import { readSubmission } from './read-submission.ts'
import { withSubmitOptions, type SubmitCommandOptions } from './submit-options.ts'

import type { CommandIo } from '../../terminal/command-io.ts'

/** Returns the body that `tutti run` sends for these arguments. */
async function readBody(...args: readonly string[]): Promise<unknown> {
  const command = withSubmitOptions(new Command('run').exitOverride()).configureOutput({
    writeErr: () => undefined,
  })
  command.parse(args, { from: 'user' })
  // NOTE: these options read no files.
  return readSubmission(
    [],
    command.opts<SubmitCommandOptions>(),
    {} as Partial<CommandIo> as CommandIo,
  )
}

describe('the review options of tutti run', () => {
  it('The review options of `tutti run` set options.review of the body', async () => {
    const args = ['--review-timeout', '3d', '--review-on-timeout', 'fail', '--review-role', 'cfo']
    expect(await readBody(...args)).toEqual({
      options: { review: { timeoutMs: 259_200_000, onTimeout: 'FAIL', requiredRole: 'cfo' } },
    })
  })

  it('The review options of `tutti run` override those of --request', async () => {
    const request = '{"options":{"verbose":true,"review":{"timeoutMs":1,"requiredRole":"cfo"}}}'
    expect(await readBody('--request', request, '--review-timeout', 'never')).toEqual({
      options: { verbose: true, review: { timeoutMs: 0, requiredRole: 'cfo' } },
    })
  })

  it.each([
    ['90s', 90_000],
    ['1.5h', 5_400_000],
    ['30m', 1_800_000],
    ['never', 0],
  ])('The review options of `tutti run` read %s as %i ms', async (text, timeoutMs) => {
    expect(await readBody('--review-timeout', text)).toEqual({ options: { review: { timeoutMs } } })
  })

  it.each(['3', '0s', 'd', '-1h', '3w', '1e9d'])(
    'The review options of `tutti run` reject the duration %s',
    async (text) => {
      await expect(readBody(`--review-timeout=${text}`)).rejects.toThrow(
        'such as 90s, 30m, 12h or 3d',
      )
    },
  )
})
