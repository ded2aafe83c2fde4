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
  const io = {} as Partial<CommandIo> as CommandIo
  return readSubmission([], command.opts<SubmitCommandOptions>(), io)
}

describe('the queue options of tutti run', () => {
  it('The queue options of `tutti run` override those of --request', async () => {
    const request = '{"priority":"low","fairnessKey":"a","maxQueueMs":1}'
    const args = ['--priority', 'high', '--fairness-key', 'customer-7', '--max-queue', '90s']
    expect(await readBody('--request', request, ...args)).toEqual({
      priority: 'high',
      fairnessKey: 'customer-7',
      maxQueueMs: 90_000,
    })
  })

  it.each([
    ['--start-after', 'never'],
    ['--start-after', '367d'],
    ['--max-queue', 'never'],
    ['--max-queue', '0s'],
  ])('The queue option %s of `tutti run` rejects "%s"', async (option, value) => {
    await expect(readBody(option, value)).rejects.toThrow(
      'It must be a duration such as 90s, 30m, 12h or 3d, at most 366d.',
    )
  })

  it('The time limit of reviews of `tutti run` can be "never"', async () => {
    const args = ['--review-policy', 'AFTER_EVERY_TASK', '--review-timeout', 'never']
    expect(await readBody(...args)).toMatchObject({ options: { review: { timeoutMs: 0 } } })
    await expect(readBody('--review-timeout', 'soon')).rejects.toThrow('at most 36500d, or "never"')
  })

  it('The queue options of `tutti run` reject an unknown priority', async () => {
    await expect(readBody('--priority', 'urgent')).rejects.toThrow(
      'Allowed choices are low, normal, high',
    )
  })
})
