-- slurmctld as a job_submit.lua sees it, for staged calls of the script that arg[1] names. A plain job is what sbatch sends
-- of one that asks for nothing; what 22.05 does not know of a job is an error here and nil there, so that a slip shows.

local NONE32, NONE16 = 4294967294, 65534

local TEXTS = {
  "admin_comment", "batch_features", "comment", "cpus_per_tres", "exc_nodes", "features", "mem_per_tres", "name", "partition",
  "prefer", "req_nodes", "reservation", "script", "tres_per_job", "tres_per_node", "tres_per_socket", "tres_per_task",
}
local NUMBERS = {
  bitflags = 503316480,
  contiguous = 0, cpus_per_task = NONE16, max_nodes = NONE32, min_cpus = 1, min_nodes = NONE32, ntasks_per_node = NONE16,
  num_tasks = NONE32, pn_min_cpus = NONE16, pn_min_tmp_disk = NONE32, req_switch = NONE32, time_limit = NONE32, user_id = 1000,
}
-- What scontrol sends of a change that is none.
local UNCHANGED = {contiguous = NONE16, min_cpus = NONE32}
local RECORD = {
  "admin_comment", "features", "job_id", "max_nodes", "min_cpus", "min_mem_per_cpu", "min_mem_per_node", "min_nodes", "name",
  "partition", "pn_min_cpus", "user_id",
}

said, logged, opened = nil, nil, {}

slurm = {
  SUCCESS = 0,
  ERROR = -1,
  log_user = function(...) said = string.format(...) end,
  log_info = function(...) logged = string.format(...) end,
  log_error = function(...) logged = string.format(...) end,
}

-- The bell is heard and not rung; nothing else may be reached from here.
io.open = function(path, mode)
  opened[#opened + 1] = path .. " " .. tostring(mode)
  return {write = function() end, close = function() end}
end
io.popen, os.execute, os.remove, os.rename = nil, nil, nil, nil

local function record(values, names)
  return setmetatable({}, {
    __index = function(_, name)
      if not names[name] then
        error("slurm has no field " .. tostring(name))
      end
      return values[name]
    end,
    __newindex = function(_, name, value)
      if not names[name] or type(value) ~= type(NUMBERS[name] or "") then
        error("slurm cannot set " .. tostring(name))
      end
      values[name] = value
    end,
  })
end

local function described(fields, unset)
  local names = {min_mem_per_node = true, min_mem_per_cpu = true}
  local values = {}
  for _, name in ipairs(TEXTS) do
    names[name] = true
  end
  for name, value in pairs(NUMBERS) do
    names[name] = true
    values[name] = unset[name] or value
  end
  values.script = "#!/bin/sh\n"
  for name, value in pairs(fields) do
    if not names[name] then
      error("a job has no field " .. name)
    end
    -- Not false: nil, as for a job without a script.
    values[name] = value or nil
  end
  return record(values, names)
end

-- The code, the sentence, and the job as it would be taken.
function submitted(fields, uid)
  said, logged, opened = nil, nil, {}
  local job = described(fields, {})
  return slurm_job_submit(job, {}, uid or 1000), said, job
end

-- The code, the sentence in the log, and the change as it would be made.
function changed(fields, uid, old)
  said, logged, opened = nil, nil, {}
  local names = {}
  for _, name in ipairs(RECORD) do
    names[name] = true
  end
  local values = {job_id = 12, user_id = 1000, partition = "secure", features = "unplaced", min_nodes = 1, max_nodes = 0}
  for name, value in pairs(old or {}) do
    values[name] = value
  end
  local job = described(fields, UNCHANGED)
  return slurm_job_modify(job, record(values, names), {}, uid or 1000), logged, job
end

local script, why = loadfile(arg[1])
if not script then
  error(why, 0)
end
script()
