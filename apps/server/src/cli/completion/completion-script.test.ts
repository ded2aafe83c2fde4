import { spawnSync } from 'node:child_process'

import { Command } from 'commander'
import { describe, expect, it } from 'vitest'

import { writeCompletion } from './completion-script.ts'

function createProgram(): Command {
  const program = new Command('tutti').option('--version', 'display the version')
  program
    .command('run')
    .description("start a run: it's followed")
    .option('-i, --input <key=value>', 'an input')
    .option('--model <alias>', 'model of all tasks')
  const tools = program.command('tools').description('list the tools').option('--json', 'as JSON')
  tools.command('invoke').description('call a tool').option('--timeout <s>', 'time limit')
  program.command('inner', { hidden: true })
  return program
}

/** Returns what bash offers for the last word. */
function completeInBash(...words: readonly string[]): readonly string[] {
  const line = ['tutti', ...words].map((word) => `'${word}'`).join(' ')
  const script = `${writeCompletion(createProgram(), 'bash')}
COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _tutti; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['-c', script], { encoding: 'utf8' })
  expect(stderr).toBe('')
  return stdout.trim().split('\n')
}

describe.skipIf(process.platform === 'win32')('the script for bash', () => {
  it.each([
    [[''], ['run', 'tools', 'help', '--version', '--help']],
    [['to'], ['tools']],
    [
      ['run', '--'],
      ['--input', '--model', '--help'],
    ],
    [['run', 'x', 'a=1', '--m'], ['--model']],
    [
      ['tools', ''],
      ['invoke', 'help', '--json', '--help'],
    ],
    [
      ['tools', 'invoke', '--'],
      ['--timeout', '--help'],
    ],
  ])('The script for bash completes %j with %j', (words, expected) => {
    expect(completeInBash(...words)).toEqual(expected)
  })
})

describe('the scripts for zsh and fish', () => {
  it('The scripts for zsh and fish contain each command with its description, quoted, and no hidden command', () => {
    const zsh = writeCompletion(createProgram(), 'zsh')
    expect(zsh).toContain(String.raw`'run:start a run: it'\''s followed'`)
    expect(zsh).toContain(`'tools invoke '*) entries=('--timeout:time limit' `)
    const fish = writeCompletion(createProgram(), 'fish')
    expect(fish).toContain(
      String.raw`complete -c tutti -n '__fish_use_subcommand' -a run -d 'start a run: it\'s followed'`,
    )
    expect(fish).toContain(
      `complete -c tutti -n '__fish_seen_subcommand_from tools; and __fish_seen_subcommand_from invoke' -l timeout -d 'time limit'`,
    )
    for (const script of [zsh, fish]) expect(script).not.toContain('inner')
  })
})
