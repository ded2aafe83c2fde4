/** Finds the metrics and labels in PromQL expressions, dashboards and alert rules. */

/** A metric in an expression, with the labels that the expression selects or groups by. */
export interface Use {
  readonly metric: string
  readonly labels: readonly string[]
}

/** Functions, operators and modifiers that the parser knows. */
const WORDS = new Set(
  (
    'abs avg by changes clamp_max clamp_min count delta histogram_quantile ignoring increase label_replace max min ' +
    'offset on or and unless rate resets scalar sum time topk vector without group_left bool'
  ).split(' '),
)

/** Modifiers that a list of labels follows. */
const GROUPINGS = new Set(['by', 'on', 'without', 'ignoring', 'group_left'])

const TOKEN =
  /(?<text>"(?:[^"\\]|\\.)*")|(?<name>[a-zA-Z_:][\w:]*)|(?<range>\[[^\]]+\])|(?<number>\d[\d.eE]*[smhdw]?)|(?<mark>[(){},]|[=!<>~]+|[-+*/%])|(?<gap>\s+)/y

/** Returns every metric in an expression. @throws {Error} when a word or character is unknown. */
export function findUses(expression: string): readonly Use[] {
  const tokens = tokensOf(expression)
  const uses: { metric: string; labels: string[] }[] = []
  const grouped: string[] = []
  for (let at = 0; at < tokens.length; at += 1) {
    const { kind, text } = tokens[at] ?? { kind: '', text: '' }
    if (kind !== 'name') continue
    if (GROUPINGS.has(text)) {
      const end = findClosing(tokens, at + 1)
      grouped.push(...namesIn(tokens.slice(at + 1, end)))
      at = end
    } else if (WORDS.has(text)) continue
    else if (tokens[at + 1]?.text === '{') {
      const end = tokens.findIndex((token, index) => index > at && token.text === '}')
      uses.push({ metric: text, labels: namesIn(tokens.slice(at + 1, end)) })
      at = end
    } else if (tokens[at + 1]?.text === '(') throw new Error(`The function ${text} is not known`)
    else uses.push({ metric: text, labels: [] })
  }
  return uses.map(({ metric, labels }) => ({ metric, labels: [...labels, ...grouped] }))
}

interface Token {
  readonly kind: string
  readonly text: string
}

function tokensOf(expression: string): readonly Token[] {
  const matches = [...expression.matchAll(new RegExp(TOKEN, 'gy'))]
  const read = matches.reduce((length, [text]) => length + text.length, 0)
  if (read !== expression.length) {
    throw new Error(`Cannot read ${expression} from ${JSON.stringify(expression.slice(read))} on`)
  }
  return matches.flatMap(({ 0: text, groups = {} }) => {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined) ?? ''
    return kind === 'gap' ? [] : [{ kind, text }]
  })
}

function findClosing(tokens: readonly Token[], from: number): number {
  return tokens.findIndex((token, index) => index >= from && token.text === ')')
}

function namesIn(tokens: readonly Token[]): string[] {
  return tokens.filter(({ kind }) => kind === 'name').map(({ text }) => text)
}

/** A panel with metrics. */
export interface Panel {
  readonly title: string
  readonly expressions: readonly string[]
}

/** Returns the panels of a Grafana dashboard without rows, with its variables replaced. */
export function panelsIn(dashboard: unknown): readonly Panel[] {
  return toList(dashboard, 'panels').flatMap((panel): readonly Panel[] => {
    const type = textOf(panel, 'type')
    if (type === 'row') return panelsIn(panel)
    const expressions = toList(panel, 'targets').map((target) =>
      textOf(target, 'expr').replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, '.*'),
    )
    return [{ title: textOf(panel, 'title'), expressions }]
  })
}

/** An alert rule. */
export interface Alert {
  readonly name: string
  readonly expression: string
  readonly summary: string
}

/**
 * Returns the alert rules of a file. It expects the layout of that file, with `alert`, `expr`, `for` and `summary` on
 * separate lines, and is not a YAML parser.
 */
export function alertsIn(yaml: string): readonly Alert[] {
  return yaml
    .split(/^ *- alert: /m)
    .slice(1)
    .map((rule) => ({
      name: rule.split('\n')[0] ?? '',
      expression: field(rule, 'expr'),
      summary: field(rule, 'summary'),
    }))
}

function field(rule: string, name: string): string {
  return new RegExp(`^ *${name}: (.+)$`, 'm').exec(rule)?.[1]?.replaceAll(/^'|'$/g, '') ?? ''
}

function toList(value: unknown, name: string): readonly unknown[] {
  const list: unknown = isRecord(value) ? value[name] : undefined
  return Array.isArray(list) ? list : []
}

function textOf(value: unknown, name: string): string {
  const text = isRecord(value) ? value[name] : undefined
  return typeof text === 'string' ? text : ''
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
