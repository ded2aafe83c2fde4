/**
 * The checks of `tutti doctor`: they cover everything that a server needs, and change nothing.
 *
 * SERVER-H1 Checks are independent; a check that depends on a failed one is skipped.
 * SERVER-H2 No finding contains a secret.
 */
import { redactor } from '@tutti/control-api/internal'
import { TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { parseEnv } from 'node:util'

import {
  listSecrets,
  readClientEnvironment,
  readEnvironment,
  type Environment,
} from '../../environment/env.ts'
import { loadConfig } from '../../config/load-config.ts'
import { sampleConfig } from '../../sample/sample-config.ts'
import { listServerSecrets } from '../../start/list-secrets.ts'
import { envFileIn, loadProjectEnvFile } from '../dev/load-env-file.ts'
import { supportedNodeRange } from '../../program-version.ts'
import { askServer, type ExpectedServer } from './ask-server.ts'
import { checkAccess } from './check-access.ts'
import {
  checkBudgets,
  checkInputs,
  checkModels,
  checkVariables,
} from '../../checks/check-config.ts'
import { checkDataDirectory, checkRetention } from './check-data-directory.ts'
import { checkNats } from './check-nats.ts'
import { checkNode } from './check-node.ts'
import { checkPort } from './check-port.ts'
import { checkPostgres } from './check-postgres.ts'
import { findingsFor, type Finding } from '../../checks/finding.ts'
import { tryStart, type TriedStart } from './try-start.ts'

import type { TuttiConfig } from '../../config/config.ts'
import type { ProcessVariables } from '../../environment/env-table.ts'

/** Inputs of the checks. */
export interface DoctorFacts {
  readonly variables: ProcessVariables
  readonly cwd: string
  /** Address of a server to check in addition to the local one; undefined for none. */
  readonly url: string | undefined
  readonly apiKey: string | undefined
}

/** Time limit for loading the config file, in milliseconds. */
const LOAD_LIMIT_MS = 15_000

/** Inputs of the later checks. An undefined part could not be loaded, which a finding reports. */
interface Inspected extends DoctorFacts {
  readonly environment: Environment | undefined
  readonly config: TuttiConfig | undefined
  readonly tried: TriedStart
}

type Check = (inspected: Inspected) => readonly Finding[] | Promise<readonly Finding[]>

/** Checks that use the loaded parts, in the order of their findings. */
const CHECKS: readonly Check[] = [
  withConfig(checkInputs),
  withConfig((config, { variables }) => checkModels(config, { variables })),
  withConfig(checkBudgets),
  withConfig((config, { environment }) => [
    checkRetention(config, environment?.databaseUrl !== undefined),
  ]),
  ({ tried }) => tried.findings,
  withEnvironment(checkDeployment),
  withEnvironment(async ({ nats }) => (nats === undefined ? [] : [await checkNats(nats)])),
  ({ url, apiKey, tried }) => (url === undefined ? [] : askFindings(url, { ...tried, apiKey })),
]

/** Skips a check when there is no config. */
function withConfig(
  check: (config: TuttiConfig, inspected: Inspected) => ReturnType<Check>,
): Check {
  return (inspected) => (inspected.config === undefined ? [] : check(inspected.config, inspected))
}

/** Skips a check when there is no valid environment. */
function withEnvironment(
  check: (environment: Environment, inspected: Inspected) => ReturnType<Check>,
): Check {
  return (inspected) =>
    inspected.environment === undefined ? [] : check(inspected.environment, inspected)
}

/** Runs every check whose inputs could be loaded. */
export async function runDoctor(facts: DoctorFacts): Promise<readonly Finding[]> {
  const { variables, cwd } = facts
  const envFile = readEnvFile(cwd)
  const { environment, findings: environmentFindings } = checkEnvironment(variables)
  const { config, findings: configFindings } = await checkConfig(environment)
  const tried =
    config === undefined || environment === undefined
      ? NOTHING_TRIED
      : await tryStart(config, environment)
  const findings = [
    checkNode({ version: process.versions.node, needed: supportedNodeRange() }),
    ...envFile,
    ...environmentFindings,
    ...checkVariables(variables),
    ...configFindings,
  ]
  const inspected = { ...facts, environment, config, tried }
  for (const check of CHECKS) {
    // The server at `url` can be the one that uses the local port.
    const known = new Set(findings.map((finding) => JSON.stringify(finding)))
    findings.push(
      ...(await check(inspected)).filter((finding) => !known.has(JSON.stringify(finding))),
    )
  }
  const secrets = redactor(
    listServerSecrets(config ?? {}, environment ?? { secrets: listSecrets(variables) }),
  )
  return findings.map((finding) => secrets.value(finding))
}

async function askFindings(url: string, server: ExpectedServer): Promise<readonly Finding[]> {
  return (await askServer(url, server)).findings
}

const NOTHING_TRIED: TriedStart = {
  findings: [],
  schemaVersion: undefined,
  apiVersion: undefined,
}

/** Loads the `.env` file of a project. The finding lists the names of its variables, never their values. */
function readEnvFile(cwd: string): readonly Finding[] {
  const { ok, problem } = findingsFor('.env')
  const path = envFileIn(cwd)
  try {
    if (!existsSync(path)) return []
    const names = Object.keys(parseEnv(readFileSync(path, 'utf8')))
    loadProjectEnvFile(cwd)
    const list = names.length === 0 ? 'no variables' : names.join(', ')
    return [ok(`Sets ${list}; read by "tutti dev" and "tutti doctor", not by "tutti start"`)]
  } catch (error) {
    return [problem(errorMessage(error))]
  }
}

function checkEnvironment(variables: ProcessVariables) {
  const { ok, problem } = findingsFor('environment')
  try {
    const environment = readEnvironment(variables)
    return { environment, findings: [ok('All variables are valid')] }
  } catch (error) {
    return { environment: undefined, findings: listProblems(error).map((text) => problem(text)) }
  }
}

/** Returns the problems that an error lists, or its message. */
function listProblems(error: unknown): readonly string[] {
  const details = TuttiError.isInstance(error) ? error.details : undefined
  const problems =
    typeof details === 'object' && details !== null && 'problems' in details
      ? details['problems']
      : undefined
  return Array.isArray(problems) ? problems.map(String) : [errorMessage(error)]
}

interface Loading {
  readonly config?: TuttiConfig
  readonly findings: readonly Finding[]
}

async function checkConfig(environment: Environment | undefined): Promise<Loading> {
  const { ok, warning, problem } = findingsFor('config')
  try {
    const late = wait(LOAD_LIMIT_MS, LATE, { ref: false })
    const loaded = await Promise.race([loadConfig(environment?.configPath), late])
    if (loaded === LATE) {
      return {
        findings: [
          problem(
            'The config file did not load within 15 s',
            'Look for a top-level "await" in it that never ends',
          ),
        ],
      }
    }
    if (loaded !== undefined) return { config: loaded.config, findings: [ok(loaded.path)] }
    if (environment === undefined) return { findings: [] }
    const advice = 'Change to the directory of your project, or create one: npm create tutti'
    const notice = 'No tutti.config.ts here: the server would serve the sample ensembles'
    return { config: sampleConfig(environment), findings: [warning(notice, advice)] }
  } catch (error) {
    return { findings: listProblems(error).map((text) => problem(text, 'Correct the config file')) }
  }
}

const LATE = Symbol('late')

/** Checks the access to the server, its store and its port. */
async function checkDeployment(
  environment: Environment,
  { config, tried, variables }: Inspected,
): Promise<readonly Finding[]> {
  const { databaseUrl, apiKeys } = environment
  const { apiKey = apiKeys.find(({ key }) => key !== undefined)?.key } =
    readClientEnvironment(variables)
  const { findings, isServed } = await checkPort(environment, { ...tried, apiKey })
  const known = { knownVersion: tried.schemaVersion, isServed }
  return [
    ...(config === undefined ? [] : checkAccess(config, environment, Date.now())),
    ...(databaseUrl === undefined
      ? checkDataDirectory(environment.dataDir, known)
      : await checkPostgres({ ...environment, databaseUrl })),
    ...findings,
  ]
}
