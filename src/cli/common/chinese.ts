/** The Chinese of every help text, by the English one: a sentence that is changed in a command and not here fails a test. Flags, names and commands stay as they are typed. */
export const chineseHelp: Readonly<Record<string, string>> = {
  // The heads of help, and what follows it.
  'Arguments:': '参数：',
  'Options:': '选项：',
  'Commands:': '命令：',
  'Example:': '示例：',
  'Examples:': '示例：',
  'As a coding agent is told of it:': '编程智能体的配置：',
  'Exit status: 0 healthy, 1 faulty or unexplained, 2 bad input, 3 not enough evidence.':
    '退出状态：0 健康，1 有故障或无法解释，2 输入有误，3 证据不足。',
  'Exit status: 0 healthy, 1 faulty or unexplained, 2 bad input, 3 not enough evidence; with --fail-on, 1 or 0.':
    '退出状态：0 健康，1 有故障或无法解释，2 输入有误，3 证据不足；带 --fail-on 时为 1 或 0。',

  // Commands.
  'Trains agents together, and names the cause when training does not learn.':
    '一起训练多个智能体，并在训练学不动时指出原因。',
  'Train a run with a bug in it, let the doctor name the bug, and train again without it.':
    '训练一次带有故障的运行，让医生指出故障，再去掉故障重新训练。',
  'Train agents on a game, with every number checked and recorded.': '在游戏上训练智能体，检查并记录每一个数字。',
  'Play a game: mean return per seat and name with intervals, and pictures of an episode.':
    '玩一个游戏：按位置和名称给出平均回报及区间，并画出一局。',
  'Find out why equal agents come out unequal: the whole investigation, in one command.':
    '查明相同的智能体为何结果不同：一条命令完成整个调查。',
  'Run every combination of settings and seeds on all cores; if interrupted, the same command continues.':
    '在所有核心上运行设置与种子的每种组合；中断后，同一条命令会继续。',
  'Process the jobs of a queue; start one worker on each machine.': '处理队列中的任务；每台机器启动一个 worker。',
  'Compare runs: interquartile means with intervals, probability of improvement, curves with bands.':
    '比较多次训练：带区间的四分位间均值、改进的概率、带区间的曲线。',
  'Write the policies of a run as ONNX: input obs, output logits.':
    '把训练得到的策略写成 ONNX：输入 obs，输出 logits。',
  'Examine whatever a path holds and answer in at most 25 lines: verdict, cause, proof, what to change.':
    '查看路径里的任何内容，用最多 25 行回答：结论、原因、证据、如何修改。',
  'Say what is wrong with a run, prove it with its own numbers, and say what to change.':
    '说出训练哪里有问题，用它自己的数字证明，并说明如何修改。',
  'Explain a cause: meaning, symptoms, proof, remedy, and the fault that reproduces it.':
    '解释一个原因：含义、症状、证明、补救，以及能重现它的故障。',
  'Faults that can be put into a run on purpose, to see whether they are found.':
    '可以故意放进训练里的故障，用来看它们能否被发现。',
  'List every fault with the cause that a diagnosis must name; faults that make equal agents unequal come last.':
    '列出每个故障和诊断必须指出的原因；使相同智能体变得不平等的故障排在最后。',
  'Train every fault, diagnose each recording, and show which causes were named and which missed.':
    '训练每个故障，诊断每份记录，并显示哪些原因被指出、哪些被漏掉。',
  'Serve the doctor to coding agents (Model Context Protocol): check, explain, curves, trainings.':
    '向编程智能体提供医生（Model Context Protocol）：检查、解释、曲线、训练。',
  'Serve the web app: live runs, diagnosis by drag and drop, replays, comparisons, investigations.':
    '提供网页应用：实时训练、拖放诊断、回放、比较、调查。',
  'Read a log (TensorBoard, CSV, progress.json, JSON lines, a W&B export) into a recording.':
    '把日志（TensorBoard、CSV、progress.json、JSON 行、W&B 导出）读成记录。',
  'Show the tables, columns and ranges of a recording, and which columns each check still needs.':
    '显示记录的表、列和范围，以及每项检查还缺哪些列。',
  'Read every file of a recording and report any problems.': '读取记录的每个文件并报告问题。',
  'Write a recording in another encoding. Values are preserved exactly.': '把记录写成另一种编码。数值原样保留。',

  // What several commands share.
  'output the version number': '显示版本号',
  'display help for command': '显示命令的帮助',
  'print the result as JSON': '以 JSON 输出结果',
  'the most memory that the files may expand to': '文件展开后最多占用的内存',
  'a hundred times what they hold, and 256MiB at least': '文件大小的一百倍，至少 256MiB',
  none: '无',
  'settings from a .json or .yaml file': '从 .json 或 .yaml 文件读取设置',
  'how agents learn': '智能体如何学习',
  'how many runs at a time (default: one per core)': '同时进行多少次训练（默认：每个核心一次）',
  'run on the machines where trueline worker serves the queue, instead of here':
    '在 trueline worker 服务该队列的机器上运行，而不是在本机',
  'the queue of --redis': '--redis 的队列',
  'the certificate authority of the Redis server, if the system does not know it':
    'Redis 服务器的证书颁发机构（系统不认识时）',
  'results are written to a disk that all machines share; start workers with --shared FOLDER':
    '结果写到所有机器共享的磁盘；用 --shared FOLDER 启动 worker',
  'a folder with a manifest.json, or a zip of one': '含 manifest.json 的文件夹，或其 zip',
  'a folder with a manifest.json, a zip of one, or a dump of rollouts':
    '含 manifest.json 的文件夹、其 zip，或采样数据的转储',
  'a folder that trueline train wrote': 'trueline train 写出的文件夹',
  'read this column of a log as this metric; metric=-column negates; may be repeated':
    '把日志的这一列当作这个指标；metric=-column 取反；可重复',
  'which run to read, if a log holds several': '日志含多次训练时读哪一次',
  'a setting that the log does not state, such as epochs=1; may be repeated':
    '日志没有写明的设置，例如 epochs=1；可重复',

  // demo
  'the bug; trueline zoo list shows them': '故障；trueline zoo list 列出全部',
  'folder for the runs; the results of an earlier demo are replaced': '训练所用的文件夹；先前演示的结果会被替换',
  'the seed of every random stream of the runs': '这些训练的所有随机流的种子',

  // train
  'probe-action, echo, cartpole, stag-hunt, snowdrift, city ...':
    'probe-action、echo、cartpole、stag-hunt、snowdrift、city 等',
  'one setting, such as ppo.clip=0.1; may be repeated': '一个设置，例如 ppo.clip=0.1；可重复',
  'the seed of every random stream of the run': '训练的所有随机流的种子',
  'decisions of learning agents': '学习的智能体的决策数',
  'who plays each seat, separated by commas: learn, an algorithm ("hop without subgoals"), "from RUN", "frozen RUN", or a scripted player':
    '每个位置由谁来玩，用逗号隔开：learn、一种算法（"hop without subgoals"）、"from RUN"、"frozen RUN"，或脚本玩家',
  'modules to leave out, of hop world-model, other-agents, subgoals, of hop-planner planner, beliefs, models; or none':
    '要去掉的模块，hop 可选 world-model、other-agents、subgoals，hop-planner 可选 planner、beliefs、models；或 none',
  'one policy per agent, or one for all': '每个智能体一个策略，或共用一个',
  'what the live checks do when one fails': '实时检查不通过时怎么办',
  'which kernel to compute with; simd gives the same bits on every CPU': '用哪种内核计算；simd 在每种 CPU 上逐位相同',
  'number of threads; results do not depend on it': '线程数；结果与它无关',
  'which iterations are recorded in full': '哪些迭代完整记录',
  'break the run on purpose, to see whether it is found; trueline zoo list':
    '故意弄坏训练，看能否被发现；见 trueline zoo list',
  'folder for the run (default: runs/<game>-<seed>)': '训练所用的文件夹（默认：runs/<game>-<seed>）',
  'continue a run that was stopped or killed': '继续被停止或被杀掉的训练',
  'also record the time of day; two runs of the same seed then differ in it':
    '同时记录时刻；同一种子的两次训练会因此不同',
  'number of fresh episodes to play at the end': '结束时玩多少局新游戏',
  'print every setting with its default and meaning': '列出每个设置的默认值和含义',
  'print (or write) a JSON Schema of the settings, for editors': '输出（或写出）设置的 JSON Schema，供编辑器使用',

  // adapt and crossplay
  'A trained agent among partners it has never met: return per episode, as it is and while it learns.':
    '训练好的智能体与从未见过的伙伴一起：每局的回报，保持不变时和继续学习时。',
  'a folder that trueline train wrote, or RUN#agent; it plays the first seat':
    'trueline train 写出的文件夹，或 RUN#agent；它玩第一个位置',
  'who plays the other seats: runs or scripted players; one stands for all':
    '其余位置由谁来玩：训练或脚本玩家；只写一个代表全部',
  'how many episodes of each life': '每次经历玩多少局',
  'how many lives with these partners; intervals are over them': '与这些伙伴有多少次经历；区间按它们计算',
  'only as it is': '只看保持不变时',
  'Who earns what beside whom: every agent among every other, with intervals.':
    '谁在谁旁边得到多少：每个智能体与每个其他智能体，附区间。',
  'folders that trueline train wrote; scripted players may follow': 'trueline train 写出的文件夹；后面可以写脚本玩家',
  'how many episodes of each pair': '每一对玩多少局',
  'write the matrix as a page, coloured by return': '把矩阵写成网页，按回报着色',

  // play
  'echo, stag-hunt, snowdrift, city ...': 'echo、stag-hunt、snowdrift、city 等',
  'a folder that trueline train wrote; its policies play the seats called ppo':
    'trueline train 写出的文件夹；其策略玩名为 ppo 的位置',
  'who plays each seat, separated by commas; one name stands for all seats':
    '每个位置由谁来玩，用逗号隔开；只写一个名称代表所有位置',
  'how many episodes': '玩多少局',
  'the seed of every random stream': '所有随机流的种子',
  'assign players to seats at random in each episode': '每局随机分配玩家的位置',
  'one setting of the game, such as width=8; may be repeated': '游戏的一个设置，例如 width=8；可重复',
  'show one episode in the terminal': '在终端显示一局',
  'write one episode as a film strip': '把一局写成连环画',
  'write one episode as a page that plays it': '把一局写成可播放的网页',
  'write one finished city as JSON, and its picture beside it as .svg':
    '把一座建成的城市写成 JSON，并在旁边写一张 .svg 图片',

  // symmetry
  'a game, or runs made elsewhere, one per seed: recordings, logs, or folders of them':
    '一个游戏，或别处的训练，每个种子一份：记录、日志或它们的文件夹',
  'number of runs of every kind (default: 10, or 6 with --quick)': '每种训练的次数（默认：10，带 --quick 时为 6）',
  'steps per run (default: 400,000, or 240,000 with --quick)':
    '每次训练的步数（默认：400,000，带 --quick 时为 240,000）',
  'the seed of every random stream; another number gives another investigation':
    '所有随机流的种子；换一个数就是另一次调查',
  'fewer seeds, shorter runs': '更少的种子，更短的训练',
  'run every stage, even when the cause is proved': '即使原因已被证明，也运行每个阶段',
  'stay within this time by using fewer seeds or steps, and report what that costs':
    '用更少的种子或步数控制在此时间内，并说明代价',
  'one setting, such as ppo.gamma=0.9; may be repeated': '一个设置，例如 ppo.gamma=0.9；可重复',
  'break every run on purpose, to see whether it is found; trueline zoo list':
    '故意弄坏每次训练，看能否被发现；见 trueline zoo list',
  'folder for the runs (default: runs/symmetry-<game>); the same command continues where it stopped':
    '训练所用的文件夹（默认：runs/symmetry-<game>）；同一条命令从停下处继续',
  'write the whole report as one page that works offline': '把整份报告写成一个可离线使用的网页',

  // sweep, worker, compare, export
  'a .yaml or .json file with base, vary and seeds': '含 base、vary 和 seeds 的 .yaml 或 .json 文件',
  'folder for the runs (default: runs/<name of the file>)': '训练所用的文件夹（默认：runs/<文件名>）',
  'only report the progress of the sweep': '只报告扫描的进度',
  'redis://HOST:PORT, or rediss://USER:PASSWORD@HOST:PORT': 'redis://HOST:PORT，或 rediss://USER:PASSWORD@HOST:PORT',
  'the queue': '队列',
  'how many jobs at a time (default: one per core)': '同时处理多少个任务（默认：每个核心一个）',
  'the folder of the runs of a sweep with --shared, as seen from this machine':
    '带 --shared 的扫描的训练文件夹，以本机看到的路径为准',
  'a job whose worker is silent for this long is given to another': '任务的 worker 沉默这么久后，任务交给别人',
  'folders of sweeps, or of single runs': '扫描的文件夹，或单次训练的文件夹',
  'write the curves as a picture': '把曲线写成图片',
  'write tables and curves as one page': '把表格和曲线写成一个网页',
  'write ONNX models': '写出 ONNX 模型',
  'where to write them (default: policies/ in the run)': '写到哪里（默认：训练里的 policies/）',

  // check, diagnose, explain
  'a recording, a log, a zip, or a folder of them, ended or still running':
    '记录、日志、zip，或它们的文件夹，已结束或仍在运行',
  'print the result as JUnit XML': '以 JUnit XML 输出结果',
  'print the result as Markdown, for a pull request': '以 Markdown 输出结果，用于合并请求',
  'verdicts that end with status 1, of faulty, unexplained, not-enough-evidence, healthy':
    '以状态 1 结束的结论，可选 faulty、unexplained、not-enough-evidence、healthy',
  'a cause that is accepted; with --because it is kept in trueline.yaml; may be repeated':
    '接受的原因；带 --because 时保存到 trueline.yaml；可重复',
  'why it is accepted': '为何接受',
  "the project's file, in place of trueline.yaml": '代替 trueline.yaml 的项目文件',
  'a recording (folder or zip), or a log: event files, CSV, JSON, printed text; or a folder of logs':
    '记录（文件夹或 zip），或日志：事件文件、CSV、JSON、打印的文本；或日志的文件夹',
  'also write the report as one HTML page that works offline': '同时把报告写成一个可离线使用的 HTML 网页',
  'with --html, of a language model: its tokenizer.json or vocabulary, to show tokens as text':
    '配合 --html，用于语言模型：它的 tokenizer.json 或词表，把词元显示为文本',
  'keep watching a run that is still being written, until it ends or Ctrl-C':
    '持续观察仍在写入的训练，直到它结束或按 Ctrl-C',
  'with --follow: consider the run over after this long without new data':
    '配合 --follow：这么久没有新数据就认为训练已结束',
  'run only this check; may be repeated': '只运行这项检查；可重复',
  'name only causes that concern this agent': '只指出与该智能体有关的原因',
  'a cause to accept; it is listed as ignored; may be repeated': '要接受的原因；会列为已忽略；可重复',
  "the project's file, in place of trueline.yaml: accepted causes, settings that are meant":
    '代替 trueline.yaml 的项目文件：接受的原因、本意的设置',
  'an id, such as advantage-time-shifted; without one, all causes are listed':
    '一个 id，例如 advantage-time-shifted；不给则列出所有原因',

  // zoo bench
  'runs of every fault on every game, the heads taking turns': '每个故障在每个游戏上的训练次数，输出头轮流',
  'the first seed; the others follow it': '第一个种子；其余依次递增',
  'games to train on, with commas between': '在哪些游戏上训练，用逗号隔开',
  'heads to train with, where the game allows it': '用哪些输出头训练（游戏允许时）',
  'only these faults, with commas between; none leaves healthy runs alone':
    '只用这些故障，用逗号隔开；none 只留下健康的训练',
  'healthy runs to diagnose besides': '另外诊断多少次健康的训练',
  'keep the outcome of every run there; runs whose outcome is there are not repeated':
    '把每次训练的结果存在那里；已有结果的不再重复',
  'write the table as a Markdown page as well': '同时把表格写成 Markdown 页面',

  // engine
  'Say what computes here and why: native code of this CPU, or WebAssembly.':
    '说明这里用什么计算、为什么：本机 CPU 的原生代码，还是 WebAssembly。',
  'Compile the native engine with the C compiler that is here.': '用这里的 C 编译器编译原生引擎。',
  'native code of this CPU or WebAssembly; results do not depend on it':
    '用本机 CPU 的原生代码还是 WebAssembly；结果与此无关',

  // mcp, studio
  'what is below it can be asked about; nothing else can': '只能询问其下的内容，别的不行',
  'listen on loopback in place of standard input and output': '监听回环地址，代替标准输入和输出',
  'the port of --http; any free one unless given': '--http 的端口；不给则用任意空闲端口',
  'the folder whose runs are shown': '显示哪个文件夹里的训练',
  'the port to listen on; 7420, or any free one where that is taken': '监听的端口；7420，被占用时用任意空闲端口',
  'the address to listen on; any other than the loopback requires a token': '监听的地址；回环地址以外需要令牌',
  'the token to require, instead of a generated one': '要求的令牌，代替自动生成的',
  'also show a queue of this Redis: machines, jobs, throughput, time left':
    '同时显示这个 Redis 的队列：机器、任务、吞吐量、剩余时间',

  // import, inspect, convert
  'an event file, a CSV or JSON lines file, or the folder of one run':
    '事件文件、CSV 或 JSON 行文件，或一次训练的文件夹',
  'a new folder for the recording': '存放记录的新文件夹',
  'draw the returns and readings over time, each against its band':
    '画出回报和读数随时间的变化，并与各自的正常范围对照',
  "show what the optimiser holds and moves: its groups, and each tensor's gradient and change per step":
    '显示优化器持有和改变了什么：各参数组，以及每个张量每步的梯度和变化',
  'show the first minibatch: old and new log-probabilities side by side, ratio, valid rows, KL, entropy':
    '显示第一个小批量：并列的新旧对数概率、比率、有效行、KL、熵',
  'a recording: folder or zip': '记录：文件夹或 zip',
  'a new folder, or the zip file to write': '新文件夹，或要写的 zip 文件',
  'what to write': '写成什么',
  'deflate npz; zstd instead of snappy for Parquet (Node 22.15 or later)':
    '压缩 npz；Parquet 用 zstd 代替 snappy（Node 22.15 或更新）',
};

/** What the parser says of a line that it does not understand, and its hints. */
export const chineseComplaints: readonly (readonly [RegExp, string])[] = [
  [/^error: unknown option '(.*)'$/m, '错误：没有选项 $1'],
  [/^error: unknown command '(.*)'$/m, '错误：没有命令 $1'],
  [/^error: missing required argument '(.*)'$/m, '错误：缺少参数 $1'],
  [/^error: option '(.*)' argument missing$/m, '错误：选项 $1 缺少值'],
  [/^error: required option '(.*)' not specified$/m, '错误：必须给出选项 $1'],
  [/^error: option '(.*)' argument '([\s\S]*)' is invalid\. ?/m, '错误：选项 $1 的值 $2 无效。'],
  [
    /^error: too many arguments(?: for '(.*)')?\. Expected (\d+) arguments? but got (\d+)\.$/m,
    '错误：参数过多：应有 $2 个，收到 $3 个。',
  ],
  [/Allowed choices are (.*)\.$/m, '可选 $1。'],
  [/^\(Did you mean (?:one of )?(.*)\?\)$/m, '（是否想写 $1？）'],
];
