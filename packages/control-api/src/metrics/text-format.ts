/**
 * Pure: families as Prometheus reads them, in its text format 0.0.4 or as OpenMetrics 1.0.0, which differs in little: a
 * counter is named without `_total` where it is described, quotes in help texts are escaped, and there is an end.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 * @see https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md
 */
import type { Family, Sample } from './registry.ts'

/** A format of the text. */
export type TextFormat = 'prometheus' | 'openmetrics'

/** Media type of each format. */
export const MEDIA_TYPES: Readonly<Record<TextFormat, string>> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
}

/** The format that a reader asks for. Prometheus names every one that it knows. */
export function chooseFormat(accept: string | null): TextFormat {
  return accept?.includes('application/openmetrics-text') === true ? 'openmetrics' : 'prometheus'
}

/** The text of families. */
export function formatMetrics(families: readonly Family[], format: TextFormat): string {
  const isOpen = format === 'openmetrics'
  const lines = families.flatMap((family) => formatFamily(family, isOpen))
  return [...lines, ...(isOpen ? ['# EOF'] : []), ''].join('\n')
}

function formatFamily({ name, type, help, samples }: Family, isOpen: boolean): readonly string[] {
  const described = isOpen && type === 'counter' ? name.replace(/_total$/, '') : name
  return [
    `# HELP ${described} ${isOpen ? escapeLabel(help) : escapeHelp(help)}`,
    `# TYPE ${described} ${type}`,
    ...samples.map((sample) => formatSample(name, sample)),
  ]
}

function formatSample(name: string, { suffix, labels, value }: Sample): string {
  const pairs = labels.map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  const list = pairs.length === 0 ? '' : `{${pairs.join(',')}}`
  return `${name}${suffix}${list} ${formatNumber(value)}`
}

/** As Go reads it. */
function formatNumber(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value)
  return value > 0 ? '+Inf' : '-Inf'
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"')
}
