-- What slurmctld asks before it takes or changes a job (Lua 5.1). A job waits by a feature that no node up ever has, until
-- agent-vm gives it nodes; what could never be given is refused in a sentence. This runs under slurmctld's locks: it does
-- not wait, forks nothing, and all that it walks through is bounded. slurmctld takes a job when this script fails, so each
-- call is caught and a fault is a refusal.

local data = nil -- agent-vm's installation puts its data into this line

local UNPLACED = "unplaced"
local MAX_CONSTRAINT = 1024
local MAX_SHOWN = 60
local MAX_LIST = 300
-- "Not given" in fields of 32 and 16 bits is the last number but one, "no limit" the last.
local NONE32, NONE16 = 4294967294, 65534

-- Of slurm_errno.h, as a plain cluster answers such a job; the user reads them after our sentence.
local DENIED, NO_NODE, NO_FEATURE = 2002, 2018, 2029
local NO_CONFIGURATION, NO_RESERVATION, NO_GRES, NOT_HERE = 2014, 2053, 2072, 2036

-- Set once, when the script is loaded.
local place, all, SAYS_NONE = {}, "it has none", ""
if data then
  SAYS_NONE = string.format(" (%.0f MiB a CPU, as the job says none)", data.memory_per_cpu)
  for i, name in ipairs(data.features) do
    place[name] = i - 1
  end
  if #data.features > 0 then
    all = "it has " .. table.concat(data.features, ", ")
    if #all > MAX_LIST then
      all = string.sub(all, 1, MAX_LIST) .. "..."
    end
  end
end

-- A refusal; told apart from a fault by its type.
local function refuse(code, form, ...)
  error({code = code, text = string.format(form, ...)}, 0)
end

-- What a user wrote, fit for a terminal and a line of slurmctld's log.
local function shown(text)
  text = string.gsub(string.sub(text, 1, MAX_SHOWN + 1), "[^ -~]", "?")
  if #text > MAX_SHOWN then
    text = string.sub(text, 1, MAX_SHOWN) .. "..."
  end
  return text
end

local function number(value, none)
  if type(value) == "number" and value < none then
    return value
  end
  return nil
end

-- Field, option, code and why not, with what to do. An empty text counts in a change, where it takes something away.
local REFUSED = {
  {"req_nodes", "--nodelist", NO_NODE, "a job's nodes are made for it alone when its turn comes; leave --nodelist (-w) out"},
  {"exc_nodes", "--exclude", NO_NODE, "a job's nodes are made for it alone when its turn comes; leave --exclude (-x) out"},
  {"reservation", "--reservation", NO_RESERVATION, "this cluster has no nodes to reserve; leave --reservation out"},
  {"tres_per_node", "--gres", NO_GRES, "this release has no GPUs and no other such resources; leave --gres and --gpus-per-node out"},
  {"tres_per_job", "--gpus", NO_GRES, "this release has no GPUs and no other such resources; leave --gpus (-G) out"},
  {"tres_per_socket", "--gpus-per-socket", NO_GRES, "this release has no GPUs; leave --gpus-per-socket out"},
  {"tres_per_task", "--gpus-per-task", NO_GRES, "this release has no GPUs; leave --gpus-per-task out"},
  {"cpus_per_tres", "--cpus-per-gpu", NO_GRES, "this release has no GPUs; use --cpus-per-task"},
  {"mem_per_tres", "--mem-per-gpu", NO_GRES, "this release has no GPUs; use --mem or --mem-per-cpu"},
  {"prefer", "--prefer", NO_FEATURE, "a job's nodes have all that it asks for, or it waits; use --constraint"},
  {"batch_features", "--batch", NO_FEATURE, "all nodes of a job are alike; leave --batch out"},
}

-- From Slurm 24.11 on --cpus-per-task stands in tres_per_task, too: cpu=2,gres/gpu=1.
local function without_cpus(tres)
  if tres == nil or tres == "" then
    return tres
  end
  local others = {}
  for word in string.gmatch(tres, "[^,]+") do
    if not string.find(word, "^cpu[=:]%d+$") then
      others[#others + 1] = word
    end
  end
  return #others > 0 and table.concat(others, ",") or nil
end

-- sbatch --external (25.05 and newer): a job without a script, and this flag. Older releases set the same bit when the
-- size of a running job changes, so it stands in no submission.
local function is_external(job)
  return job.script == nil and math.floor((job.bitflags or 0) / 2^24) % 2 == 1
end

local function refuse_fields(job, change)
  for _, each in ipairs(REFUSED) do
    local value = job[each[1]]
    if each[1] == "tres_per_task" then
      value = without_cpus(value)
    end
    if value ~= nil and (change or value ~= "") then
      refuse(each[3], "%s=%s: %s", each[2], shown((string.gsub(value, "^gres[:/]", ""))), each[4])
    end
  end
  local switches = number(job.req_switch, NONE32)
  if switches and switches > 0 then
    refuse(NOT_HERE, "--switches=%d: the site does not say how its switches lie; leave --switches out", switches)
  end
  if (number(job.contiguous, NONE16) or 0) > 0 then
    refuse(NOT_HERE, "--contiguous: a job's nodes have no order; leave --contiguous out")
  end
end

-- The places of the features that a user asks for, as agent-vm reads them: ascending, each once; a dash if there are none.
local function features(constraint)
  if constraint == nil or constraint == "" then
    return "-"
  end
  if #constraint > MAX_CONSTRAINT then
    refuse(NO_FEATURE, "--constraint: %d characters, at most %d can be read; ask for fewer features", #constraint, MAX_CONSTRAINT)
  end
  local asked = {}
  for name in string.gmatch(constraint .. "&", "([^&]*)&") do
    if not string.find(name, "^[%w_.-]+$") then
      refuse(NO_FEATURE, "--constraint=%s: only names can be asked for, joined with &; leave other signs out", shown(constraint))
    end
    if not place[name] then
      refuse(NO_FEATURE, "--constraint=%s: %s is no feature of this project, %s; choose of these or leave --constraint out",
        shown(constraint), shown(name), all)
    end
    asked[place[name]] = true
  end
  local places = {}
  for i = 0, #data.features - 1 do
    if asked[i] then
      places[#places + 1] = i
    end
  end
  return table.concat(places, ",")
end

-- What a job asks of one node and in all, as far as it says. Of memory it may say nothing: then it asks what `unsaid`
-- has, and `why` tells so.
local function demand(job, unsaid, why)
  local task = math.max(number(job.cpus_per_task, NONE16) or 1, 1)
  local tasks = number(job.num_tasks, NONE32)
  local per_node = number(job.ntasks_per_node, NONE16)
  local total = number(job.min_cpus, NONE32) or 1
  if per_node == 0 then
    per_node = nil
  end
  -- Tasks that share CPUs (--overcommit) are seen by this alone.
  local sharing = tasks and total < tasks
  local together = math.min(per_node or 1, tasks and tasks > 0 and tasks or NONE32)
  local cpus = math.max(number(job.pn_min_cpus, NONE16) or 1, sharing and 1 or task * together)
  local of_node, of_cpu, default = job.min_mem_per_node, job.min_mem_per_cpu, ""
  if not of_node and not of_cpu then
    of_node, of_cpu, default = unsaid.min_mem_per_node, unsaid.min_mem_per_cpu, why
  end
  of_cpu = of_cpu or 0
  return {
    task = sharing and 1 or task,
    tasks = not sharing and per_node or nil,
    cpus = cpus,
    total = total,
    of_cpu = of_cpu,
    default = default,
    memory = math.max(of_node or 0, of_cpu * cpus),
    scratch = number(job.pn_min_tmp_disk, NONE32) or 0,
    least = math.max(number(job.min_nodes, NONE32) or 1, 1),
    most = math.max(number(job.max_nodes, NONE32) or 0, 0),
  }
end

local function most_of(field)
  local most = 0
  for _, shape in ipairs(data.shapes) do
    most = math.max(most, shape[field])
  end
  return most
end

-- CPUs of one host of this shape that tasks of this job could use.
local function usable(shape, want)
  local cpus = shape.cpus
  if want.of_cpu > 0 then
    cpus = math.min(cpus, math.floor(shape.memory / want.of_cpu))
  end
  local tasks = math.floor(cpus / want.task)
  return math.min(tasks, want.tasks or tasks) * want.task
end

local function refuse_node(want)
  local cpus, memory, scratch = most_of("cpus"), most_of("memory"), most_of("scratch")
  if want.cpus > cpus then
    refuse(NO_CONFIGURATION, "%d CPUs on a node: the site's largest host has %d; ask for fewer (--cpus-per-task, --ntasks-per-node, --mincpus)", want.cpus, cpus)
  end
  if want.memory > memory then
    refuse(NO_CONFIGURATION, "%.0f MiB of memory on a node%s: the site's largest host has %.0f MiB; ask for less (--mem, --mem-per-cpu)",
      want.memory, want.default, memory)
  end
  if want.scratch > scratch then
    refuse(NO_CONFIGURATION, "%.0f MiB of disk on a node: the site's largest host has %.0f MiB; ask for less (--tmp)", want.scratch, scratch)
  end
  refuse(NO_CONFIGURATION, "%d CPUs, %.0f MiB of memory%s and %.0f MiB of disk on a node: no host of the site has all of it; ask for less of one",
    want.cpus, want.memory, want.default, want.scratch)
end

-- Refuses what no choice of the site's hosts could hold; whether there is room now is not asked.
local function refuse_shape(want)
  local fitting, hosts = {}, 0
  for _, shape in ipairs(data.shapes) do
    if shape.cpus >= want.cpus and shape.memory >= want.memory and shape.scratch >= want.scratch then
      fitting[#fitting + 1] = {hosts = shape.hosts, cpus = usable(shape, want)}
      hosts = hosts + shape.hosts
    end
  end
  if hosts == 0 then
    refuse_node(want)
  end
  if want.least > hosts then
    refuse(NO_CONFIGURATION, "%.0f nodes: such a node fits on %d of the site's hosts; ask for fewer (--nodes)", want.least, hosts)
  end
  table.sort(fitting, function(a, b) return a.cpus > b.cpus end)
  local left, cpus = want.most > 0 and math.min(want.most, hosts) or hosts, 0
  for _, each in ipairs(fitting) do
    local taken = math.min(left, each.hosts)
    cpus, left = cpus + taken * each.cpus, left - taken
  end
  if want.total > cpus then
    local where = want.most > 0 and want.most < hosts and string.format("%.0f of the site's hosts", want.most) or "the site's hosts"
    refuse(NO_CONFIGURATION, "%.0f CPUs in all: %s hold %.0f for such tasks%s; ask for fewer (--ntasks, --cpus-per-task) or for more nodes",
      want.total, where, cpus, want.default)
  end
end

-- Without a bell agent-vm looks some moments later; a file that is not there is not made.
local function ring()
  local bell = io.open(data.bell, "r+")
  if bell then
    bell:write("1")
    bell:close()
  end
end

local function submit(job, uid)
  if uid == 0 or job.user_id == 0 then
    refuse(DENIED, "root runs no jobs here (plugin %s); submit as a member of the project", data.mark)
  end
  if is_external(job) then
    refuse(NOT_HERE, "--external: such a job has no prolog and no epilog, so that its nodes would be neither checked nor erased; leave --external out and submit a script")
  end
  refuse_fields(job, false)
  local places = features(job.features)
  refuse_shape(demand(job, {min_mem_per_cpu = data.memory_per_cpu}, SAYS_NONE))
  job.features = UNPLACED
  job.admin_comment = "v=1 features=" .. places
  ring()
end

local SIZES = {
  {"min_nodes", NONE32}, {"max_nodes", NONE32}, {"min_cpus", NONE32}, {"num_tasks", NONE32}, {"pn_min_tmp_disk", NONE32},
  {"cpus_per_task", NONE16}, {"ntasks_per_node", NONE16}, {"pn_min_cpus", NONE16},
  {"min_mem_per_node", math.huge}, {"min_mem_per_cpu", math.huge},
}

local function resizes(job)
  for _, each in ipairs(SIZES) do
    if number(job[each[1]], each[2]) then
      return true
    end
  end
  return false
end

-- A change that says nothing of nodes leaves their number, and one that says nothing of memory leaves that.
local function resized(job, old)
  local want = demand(job, old, "")
  if not number(job.min_nodes, NONE32) then
    want.least, want.most = math.max(old.min_nodes or 1, 1), old.max_nodes or 0
  end
  return want
end

local function modify(job, old)
  refuse_fields(job, true)
  if job.features ~= nil then
    refuse(DENIED, "features=%s: a waiting job's features are its place in the queue; cancel it and submit it with another --constraint", shown(job.features))
  end
  if job.admin_comment ~= nil then
    refuse(DENIED, "admincomment: it is the cluster's own; use comment")
  end
  if job.partition ~= nil and job.partition ~= old.partition then
    refuse(DENIED, "partition=%s: a job stays in its partition; cancel it and submit it again", shown(job.partition))
  end
  if resizes(job) then
    refuse_shape(resized(job, old))
  end
  ring()
end

-- Runs a decision; whatever becomes of it, slurmctld gets a number, and `tell` the sentence.
local function guarded(decide, tell, ...)
  local done, why = pcall(decide, ...)
  if done then
    return slurm.SUCCESS
  end
  local code, text = slurm.ERROR, "the cluster's submit plugin failed; tell the project's administrator"
  if type(why) == "table" and type(why.text) == "string" and type(why.code) == "number" then
    code, text = why.code, why.text
  else
    pcall(slurm.log_error, "%s", "job_submit.lua: " .. shown(tostring(why)))
  end
  pcall(tell, text)
  return code
end

local function tell_user(text)
  slurm.log_user("%s", text)
end

function slurm_job_submit(job, partitions, uid)
  return guarded(submit, tell_user, job, uid)
end

-- In a change Slurm has no way to the user for a sentence, only for the code; the sentence is in slurmctld's log.
function slurm_job_modify(job, old, partitions, uid)
  if uid == 0 then
    return slurm.SUCCESS
  end
  local function tell_log(text)
    slurm.log_info("%s", string.format("job_submit.lua: job %s of uid %s, change by uid %s: %s",
      tostring(old.job_id), tostring(old.user_id), tostring(uid), text))
  end
  return guarded(modify, tell_log, job, old)
end
