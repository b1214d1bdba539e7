/** Scripts that complete the command line, from the commands and options themselves. */

import type { Command, Option } from 'commander'
import { allCommands, wordsOf } from './apply-config.ts'

type Shell = 'bash' | 'zsh' | 'fish'

interface Completed {
  /** `batches pull`; empty for the program itself. */
  readonly words: string
  readonly about: string
  readonly commands: readonly Command[]
  readonly options: readonly Option[]
  /** The values that the arguments may have. */
  readonly choices: readonly string[]
}

const completedOf = (program: Command): readonly Completed[] =>
  allCommands(program).map((command) => ({
    words: command.parent === null ? '' : wordsOf(command),
    about: command.summary() || command.description(),
    commands: command.commands,
    options: [...command.options, ...(command.parent === null ? [] : program.options)].filter(
      ({ long }) => long !== '--version',
    ),
    choices: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
  }))

const takesValue = (option: Option): boolean => option.required || option.optional
/** Options of which a file or a folder is a good guess. */
const takesFile = ({ flags }: Option): boolean => /<(file|folder|lake|url)>/.test(flags)

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** After which words, and after which option, what comes next: as lines of a `case` in a POSIX shell. */
const casesOf = (program: Command): string => {
  const all = completedOf(program)
  const values = all.flatMap(({ words, options }) =>
    options.filter(takesValue).map((option) => {
      const names = [option.long, option.short].flatMap((name) => (name ? [quoted(`${words}|${name}`)] : []))
      const reply = option.argChoices
        ? `choices=${quoted(option.argChoices.join(' '))}`
        : takesFile(option)
          ? 'files=1'
          : 'files='
      return `    ${names.join('|')}) ${reply}; return 0 ;;`
    }),
  )
  return values.join('\n')
}

const repliesOf = (program: Command): string =>
  completedOf(program)
    .map(({ words, commands, options, choices }) => {
      const names = options.flatMap(({ long }) => long ?? [])
      return `    ${quoted(words)}) commands=${quoted([...commands.map((one) => one.name()), ...choices].join(' '))}; options=${quoted([...names, '--help'].join(' '))} ;;`
    })
    .join('\n')

/** The part that bash and zsh share: from the words before the cursor to those that may follow. */
const shared = (program: Command): string => `_firmlake_value() {
  choices=; files=
  case "$1|$2" in
${casesOf(program)}
  esac
  return 1
}
_firmlake_next() {
  commands=; options=
  case "$1" in
${repliesOf(program)}
  esac
}
_firmlake_known() {
  case " ${completedOf(program)
    .map(({ words }) => `|${words}|`)
    .join(' ')} " in *"|$1|"*) return 0 ;; esac
  return 1
}
_firmlake_words() {
  local word
  words_so_far=
  for word in "$@"; do
    case "$word" in -*) continue ;; esac
    if _firmlake_known "\${words_so_far:+$words_so_far }$word"; then
      words_so_far="\${words_so_far:+$words_so_far }$word"
    fi
  done
}
`

const bash = (program: Command): string => `# firmlake completion bash
${shared(program)}_firmlake() {
  local commands options choices files words_so_far
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  _firmlake_words "\${COMP_WORDS[@]:1:COMP_CWORD-1}"
  if _firmlake_value "$words_so_far" "$before"; then
    if [ -n "$choices" ]; then COMPREPLY=($(compgen -W "$choices" -- "$current"))
    elif [ -n "$files" ]; then compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current"))
    fi
    return
  fi
  _firmlake_next "$words_so_far"
  case "$current" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *) COMPREPLY=($(compgen -W "$commands" -- "$current"))
       if [ -z "$commands" ]; then compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$current")); fi ;;
  esac
}
complete -F _firmlake firmlake
`

const zsh = (program: Command): string => `#compdef firmlake
${shared(program)}_firmlake() {
  local commands options choices files words_so_far
  local current="\${words[CURRENT]}" before="\${words[CURRENT-1]}"
  _firmlake_words "\${(@)words[2,CURRENT-1]}"
  if _firmlake_value "$words_so_far" "$before"; then
    if [[ -n "$choices" ]]; then compadd -- \${=choices}
    elif [[ -n "$files" ]]; then _files
    fi
    return
  fi
  _firmlake_next "$words_so_far"
  if [[ "$current" == -* ]]; then compadd -- \${=options}
  elif [[ -n "$commands" ]]; then compadd -- \${=commands}
  else _files
  fi
}
compdef _firmlake firmlake
`

/** Fish completes each option by a line of its own. */
const fish = (program: Command): string => {
  const all = completedOf(program)
  const lines = all.flatMap(({ words, commands, options, choices }) => {
    const seen = words.split(' ').filter((word) => word !== '')
    const inner = commands.map((one) => one.name())
    const before = [
      ...seen.map((word) => `__fish_seen_subcommand_from ${word}`),
      // "pull" alone is not that of "batches pull".
      ...program.commands
        .filter((group) => seen.length === 1 && group.commands.some((one) => one.name() === seen[0]))
        .map((group) => `not __fish_seen_subcommand_from ${group.name()}`),
      ...(inner.length > 0 ? [`not __fish_seen_subcommand_from ${inner.join(' ')}`] : []),
    ].join('; and ')
    const when = `complete -c firmlake -n ${quoted(before || 'true')}`
    return [
      ...commands.map(
        (one) => `${when} -f -a ${one.name()} -d ${quoted(one.summary() || one.description())}`,
      ),
      ...choices.map((one) => `${when} -f -a ${one}`),
      ...options.flatMap((option) => {
        if (option.long === undefined) return []
        const value = !takesValue(option)
          ? ''
          : option.argChoices
            ? ` -x -a ${quoted(option.argChoices.join(' '))}`
            : takesFile(option)
              ? ' -r -F'
              : ' -x'
        const short = option.short === undefined ? '' : ` -s ${option.short.slice(1)}`
        return [`${when} -l ${option.long.slice(2)}${short}${value} -d ${quoted(option.description)}`]
      }),
    ]
  })
  return `# firmlake completion fish\n${lines.join('\n')}\n`
}

/** @param program with all its commands */
export const completionScript = (program: Command, shell: Shell): string =>
  shell === 'bash' ? bash(program) : shell === 'zsh' ? zsh(program) : fish(program)
