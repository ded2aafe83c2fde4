/** `tutti completion`: prints the completion script of a shell. */
import { Argument, type Command } from 'commander'

import { SHELLS, writeCompletion, type CompletedShell } from '../completion/completion-script.ts'

import type { CommandContext } from '../command-context.ts'

const HELP = `
Run it when a shell starts:
  bash   echo 'source <(tutti completion bash)' >> ~/.bashrc
  zsh    echo 'source <(tutti completion zsh)' >> ~/.zshrc, after compinit
  fish   tutti completion fish > ~/.config/fish/completions/tutti.fish`

/** Adds `tutti completion`. */
export function addCompletionCommand(program: Command, { io }: CommandContext): void {
  program
    .command('completion')
    .description('print the script with which a shell completes commands and options')
    .addArgument(new Argument('<shell>', 'shell that runs the script').choices(SHELLS))
    .addHelpText('after', HELP)
    .action((shell: CompletedShell) => {
      io.stdout.write(writeCompletion(program, shell))
    })
}
