// Talks to the engine: room, answer, text (see try/src/lib.rs).
const at = (id) => document.getElementById(id);

async function load() {
  // Compiled while it arrives, where the server names its type.
  const { instance } = await WebAssembly.instantiateStreaming(fetch("engine.wasm"), {}).catch(async () =>
    WebAssembly.instantiate(await (await fetch("engine.wasm")).arrayBuffer(), {}),
  );
  const { memory, room, answer, text } = instance.exports;
  return (request) => {
    const sent = new TextEncoder().encode(JSON.stringify(request));
    // `memory.buffer` is another one after the engine has asked for more.
    const where = room(sent.length);
    new Uint8Array(memory.buffer, where, sent.length).set(sent);
    const length = answer();
    const said = text();
    return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, said, length)));
  };
}

function show(said) {
  const verdict = said.problem ? "this can't be judged" : said.verdict;
  at("verdict").textContent = verdict.toUpperCase() + (said.rule ? `, rule ${said.rule}` : "");
  at("verdict").className = said.verdict ?? "block";
  const lines = said.problem ? [said.problem] : said.reasons.flatMap(({ because, instead }) => (instead ? [because, `instead: ${instead}`] : [because]));
  at("reasons").replaceChildren(...lines.map((line) => Object.assign(document.createElement("li"), { textContent: line })));
  at("effects").textContent = JSON.stringify(said.effects, null, 1) ?? "";
}

load().then((judge) => {
  window.doorward = judge;
  const refresh = () => {
    let world;
    try {
      world = JSON.parse(at("world").value);
    } catch (error) {
      return show({ problem: `the description of the machine is not JSON: ${error.message}` });
    }
    show(judge({ tool: "bash", input: { command: at("command").value }, world }));
  };
  ["command", "world"].forEach((id) => at(id).addEventListener("input", refresh));
  refresh();
}).catch((error) => show({ problem: `the engine can't be loaded: ${error.message}; open this page from a server, not from a file` }));
