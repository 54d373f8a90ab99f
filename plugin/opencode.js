// Overtone's plugin for opencode, written by `overtone init --host opencode` and
// removed by `overtone uninstall`. It decides nothing: it hands what happens to one
// program that lives as long as the host, and does what that answers. Every call has
// a time limit, and whatever goes wrong leaves the host as it would be without us.
import { spawn } from "node:child_process"

const COMMAND = ["overtone-hook"]
const LIMIT = 2000 // milliseconds for one call, and for all of a turn that are not answered
const PATIENCE = 5000 // milliseconds for what the host itself is asked
const RECENT = 60 // messages that are handed on at once
const WORKFLOWS = true // whether the agents of stages are among the host's
const ROUNDS = 3 // compactions in a row that freed nothing; more is a loop
const LINE = 16e6 // characters of one answer; more is none of ours

let child, last = 0, failures = 0, rest = 0
let hung = false // it did not answer in this turn
const waiting = new Map()

// lost gives up on a program that ended, or took too long. After three in a row without
// an answer the next has to wait, so that the host does not.
function lost(dead) {
  if (!dead || dead !== child) return
  child = undefined
  failures++
  rest = Date.now() + 60000
  for (const done of waiting.values()) done({ failed: true })
  waiting.clear()
}

function start() {
  if (child) return child
  if (hung || (failures >= 3 && Date.now() < rest)) return
  const made = spawn(COMMAND[0], [...COMMAND.slice(1), "serve", "--host", "opencode"], { stdio: ["pipe", "pipe", "ignore"] })
  const gone = () => lost(made)
  made.on("error", gone)
  made.on("exit", gone)
  made.stdin.on("error", gone)
  let text = ""
  made.stdout.setEncoding("utf8")
  made.stdout.on("data", (more) => {
    const lines = (text + more).split("\n")
    text = lines.pop()
    if (text.length > LINE) {
      made.kill("SIGKILL")
      return lost(made)
    }
    for (const line of lines) {
      try {
        const answer = JSON.parse(line)
        const done = waiting.get(answer.id)
        if (done) failures = 0
        done?.(answer.out ?? {})
      } catch {}
    }
  })
  for (const one of [made, made.stdin, made.stdout]) one.unref?.() // the host may end
  return (child = made)
}

// call asks the program. What takes too long, or fails, has nothing to say.
function call(event, input, more) {
  return new Promise((resolve) => {
    const id = ++last
    const done = (out) => {
      clearTimeout(timer)
      waiting.delete(id)
      resolve(out)
    }
    const timer = setTimeout(() => {
      hung = true
      child?.kill("SIGKILL")
      lost(child)
      done({ failed: true })
    }, LIMIT)
    waiting.set(id, done)
    try {
      const to = start()
      if (!to) return done({ failed: true })
      to.stdin.write(JSON.stringify({ id, event, input, ...more }) + "\n")
    } catch {
      done({ failed: true })
    }
  })
}

// within bounds what the host itself is asked.
const within = (promise) =>
  Promise.race([promise, new Promise((_, no) => setTimeout(no, PATIENCE, new Error("too slow")))]).then((r) => r?.data, () => undefined)

const isCompaction = (part) => part.type === "compaction"

const EDITS = ["bash", "edit", "write", "multiedit", "patch", "apply_patch", "task"]
const ENDS = [...EDITS, "todowrite"]
const STEERED = ["user-prompt-submit", "post-tool-use", "stop"]

export const Overtone = async ({ client, directory }) => {
  const known = new Map() // sessions: {id, parentID, directory, …}
  const agents = new Map() // which agent a session is
  const models = new Map() // the model of a session's last request
  const summarising = new Set() // sessions whose next text is a summary
  const ours = new Set() // sessions that we have asked to compact
  const rounds = new Map() // compactions in a row that freed nothing, of sessions at work
  const open = new Set() // sessions with a turn whose end was not told
  const typed = new Map() // the newest message that a person has typed
  let live, auto, steers

  const session = async (id) => {
    if (!known.has(id)) {
      const info = await within(client.session.get({ path: { id } }))
      if (!info) return { id, directory }
      known.set(id, info)
    }
    return known.get(id)
  }
  const base = async (id) => {
    let info = await session(id)
    const input = { session_id: id, cwd: info.directory ?? directory }
    if (info.parentID) {
      input.agent_id = id
      input.agent_type = agents.get(id) ?? "subagent"
    }
    for (let n = 0; info.parentID && n < 9; n++) info = await session(info.parentID)
    input.session_id = info.id
    const model = models.get(id)
    if (model) {
      input.model = model.modelID
      if (model.context) input.context_window = { context_window_size: model.context }
    }
    return input
  }

  // hold keeps the host from compacting by itself, or lets it: anything odd lets it.
  const hold = (r) => {
    if (!live || auto === false) return
    const loops = [...rounds.values()].some((n) => n >= ROUNDS)
    if (loops || (r.hold && !r.failed)) live.compaction = { ...live.compaction, auto: false }
    else if (live.compaction?.auto === false) live.compaction = { ...live.compaction, auto: true }
  }
  const heed = (event, r) => {
    if (STEERED.includes(event) || r.failed) {
      steers = r.steers
      hold(r)
    }
    if (r.person) {
      void within(client.tui.showToast({ body: { title: "Overtone", message: r.person, variant: "info", duration: 15000 } }))
    }
    return r
  }
  const tell = async (event, id, input, more) => heed(event, await call(event, { ...(await base(id)), ...input }, more))

  // history is what the program has to know of a session's messages, nothing where the
  // host does not answer.
  const history = async (id, limit = RECENT) => {
    const messages = await within(client.session.messages({ path: { id }, query: { limit } }))
    return messages ? { session: await session(id), messages, all: messages.length < limit } : {}
  }
  const tellAll = async (event, id, input, more) => {
    let r = await tell(event, id, input, more)
    if (r.gap) r = await tell(event, id, input, { ...more, ...(await history(id, 1000000)) })
    return r
  }

  // freed says that the compaction before this one has made the context smaller: it was
  // smaller at the first answer after it than at the last before it. Or it is long ago.
  const freed = (messages) => {
    const total = (m) => m?.info.tokens?.input + m?.info.tokens?.cache?.read + m?.info.tokens?.cache?.write
    const answers = messages.filter((m) => m.info.role === "assistant" && (m.info.summary || total(m) > 0))
    const at = answers.findLastIndex((m) => m.info.summary)
    if (at < 0) return messages.length >= RECENT
    return total(answers[at + 1]) < 0.8 * total(answers.slice(0, at).findLast((m) => !m.info.summary))
  }

  // swallowed is what a person typed in the instant in which we asked for a compaction: the
  // host has summed it up with the rest, and does not answer it.
  const swallowed = (messages = []) => {
    const at = messages.findLastIndex((m) => m.parts.some(isCompaction))
    if (at < 0 || !messages.slice(at).some((m) => m.info.summary && over(m))) return
    const before = messages.slice(0, at)
    return before.slice(before.findLastIndex((m) => m.info.role === "assistant") + 1).map((m) => textOf(m.parts)).filter(Boolean).join("\n")
  }

  const compact = async (id, goesOn) => {
    const model = models.get(id)
    if (!model || ours.has(id)) return
    ours.add(id)
    setTimeout(() => ours.delete(id), 60000).unref?.()
    const body = { providerID: model.providerID, modelID: model.modelID, auto: goesOn }
    await client.session.summarize({ path: { id }, body }).catch(() => ours.delete(id))
    if (!goesOn) prompt(id, swallowed((await history(id)).messages))
  }
  const prompt = (id, text) => {
    if (text) void within(client.session.promptAsync({ path: { id }, body: { parts: [{ type: "text", text, synthetic: true }] } }))
  }
  const add = (parts, message, text) => {
    if (!text) return
    const id = "prt_" + Date.now().toString(16).padStart(12, "0").slice(-12) + Math.random().toString(36).slice(2, 16).padEnd(14, "0")
    parts.push({ id, sessionID: message.sessionID, messageID: message.id, type: "text", text, synthetic: true })
  }
  const textOf = (parts) => parts.filter((p) => p.type === "text" && !p.synthetic && !p.ignored).map((p) => p.text).join("\n")

  // over says that an answer ended its turn by itself. One that was aborted has an error, or
  // no end yet when the host is idle; after a tool the turn would have gone on.
  const over = (m) =>
    m?.info.role === "assistant" && m.info.time?.completed && !m.info.error && !["tool-calls", "unknown", undefined].includes(m.info.finish)

  // answered takes the answer that has ended a session's turn, once. Only the messages tell
  // whether it has: the host is also idle after an interruption, an error or a refusal, where
  // the next word is the user's, and tells it more than once.
  const answered = (id, messages) => {
    const said = messages?.findLast((m) => !m.info.summary && !m.parts.some(isCompaction))
    return over(messages?.at(-1)) && over(said) && open.delete(id) ? textOf(said.parts) : undefined
  }

  const turnEnded = async (id) => {
    rounds.delete(id)
    if (!open.has(id) || (await session(id)).parentID) return
    const newest = typed.get(id)
    const more = await history(id)
    const answer = answered(id, more.messages)
    if (answer === undefined) return
    const r = await tellAll("stop", id, { last_assistant_message: answer }, more)
    // What was typed meanwhile would be summed up with the rest, and not answered.
    if (r.compact && typed.get(id) === newest) return void compact(id, !!r.block)
    prompt(id, r.block)
  }

  return {
    config: async (config) => {
      const r = await call("hello", {})
      live = config
      auto = config.compaction?.auto
      if (WORKFLOWS && r.agents) config.agent = { ...r.agents, ...config.agent }
    },
    "chat.message": async (input, output) => {
      const id = input.sessionID
      if (input.agent) agents.set(id, input.agent)
      const text = textOf(output.parts)
      if ((await session(id)).parentID) {
        const r = await tell("subagent-start", id, {})
        return add(output.parts, output.message, r.context)
      }
      if (!text) return // nobody's words
      typed.set(id, output.message.id)
      hung = false
      rounds.delete(id)
      const said = { prompt: text, turn_id: output.message.id }
      // A message right behind the answer comes before the host has told that it is idle.
      const more = open.has(id) ? await history(id) : {}
      said.last_assistant_message = answered(id, more.messages)
      const r = await tellAll("user-prompt-submit", id, said, more)
      if (r.block) throw new Error(r.block)
      add(output.parts, output.message, r.context)
    },
    "chat.params": async (input) => {
      const agent = input.agent?.name ?? input.agent
      if (agent !== "compaction" && agent !== "title") {
        summarising.delete(input.sessionID)
        open.add(input.sessionID)
      }
      const model = input.model
      if (agent !== "title" && model?.id) {
        models.set(input.sessionID, { providerID: model.providerID, modelID: model.id, context: model.limit?.context })
      }
    },
    "shell.env": async (input, output) => {
      if (input.sessionID) output.env.OVERTONE_SESSION = (await base(input.sessionID)).session_id
    },
    "tool.execute.before": async (input, output) => {
      if (!EDITS.includes(input.tool)) return
      const r = await tell("pre-tool-use", input.sessionID, { tool_name: input.tool, tool_use_id: input.callID, tool_input: output.args })
      if (r.deny) throw new Error(r.deny)
      if (r.prompt) output.args.prompt = r.prompt
    },
    "tool.execute.after": async (input, output) => {
      if (!ENDS.includes(input.tool)) return
      const told = {
        tool_name: input.tool, tool_use_id: input.callID, tool_input: input.args,
        tool_response: { output: output.output, metadata: output.metadata },
      }
      const more = steers ? await history(input.sessionID, 12) : undefined
      const r = await (more ? tellAll("post-tool-use", input.sessionID, told, more) : tell("post-tool-use", input.sessionID, told))
      if (r.answer) output.output = r.answer
      if (r.context) output.output += "\n\n" + r.context
      if (r.compact) void compact(input.sessionID, true)
    },
    "experimental.session.compacting": async (input) => {
      const id = input.sessionID
      const more = await history(id)
      const messages = more.messages ?? []
      const part = messages.flatMap((m) => m.parts).findLast(isCompaction)
      summarising.add(id)
      rounds.set(id, freed(messages) ? 1 : (rounds.get(id) ?? 0) + 1)
      hold({})
      await tellAll("pre-compact", id, { trigger: part?.auto || ours.has(id) ? "auto" : "manual" }, { ...more, settled: true })
    },
    "experimental.text.complete": async (input, output) => {
      const id = input.sessionID
      if (!summarising.delete(id) || (await session(id)).parentID) return
      await tell("subagent-stop", id, { last_assistant_message: output.text })
      const r = await tell("session-start", id, { source: "compact" })
      if (r.context) output.text += "\n\n" + r.context
    },
    event: async ({ event }) => {
      const about = event.properties
      if (event.type === "session.created" || event.type === "session.updated") {
        if (about.info?.id) known.set(about.info.id, about.info)
        if (event.type === "session.created" && !about.info?.parentID) await tell("session-start", about.info.id, { source: "startup" })
      } else if (event.type === "session.idle") {
        await turnEnded(about.sessionID)
      } else if (event.type === "session.compacted") {
        ours.delete(about.sessionID)
        await tell("post-compact", about.sessionID, {})
      } else if (event.type === "message.part.updated") {
        const part = about.part
        if (part?.type === "tool" && part.state?.status === "error" && ENDS.includes(part.tool)) {
          const metadata = part.state.metadata
          const ended = metadata?.sessionId && (await history(metadata.sessionId, 1)).messages?.at(-1)
          await tell("post-tool-use-failure", part.sessionID, {
            tool_name: part.tool, tool_use_id: part.callID, tool_input: part.state.input, error: part.state.error,
            tool_response: { metadata, died_of: ended?.info.error?.name },
          })
        }
      }
    },
  }
}
