-- Follows stage.lua: the least that a script must do to be installed. Says which one it is.

local function want(what, is, should)
  if is ~= should then
    error(what .. ": want " .. tostring(should) .. ", have " .. tostring(is), 0)
  end
end

local function want_refusal(what, code, sentence)
  if code == slurm.SUCCESS or type(code) ~= "number" then
    error(what .. ": want a refusal, have " .. tostring(code), 0)
  end
  if type(sentence) ~= "string" or #sentence == 0 or #sentence > 1024 or string.find(sentence, "[^ -~]") then
    error(what .. ": want a sentence, have " .. tostring(sentence), 0)
  end
end

local code, sentence, job = submitted({})
want("a plain job", code, slurm.SUCCESS)
want("a plain job's features", job.features, "unplaced")
want("a plain job's admin comment", job.admin_comment, "v=1 features=-")
want("bells of a plain job", #opened, 1)

for what, fields in pairs({
  ["--nodelist"] = {req_nodes = "h1"},
  ["--exclude"] = {exc_nodes = "h1"},
  ["--gres"] = {tres_per_node = "gres:gpu:1"},
  ["--reservation"] = {reservation = "r"},
  ["--prefer"] = {prefer = "tabc"},
  ["--constraint=unplaced"] = {features = "unplaced"},
  ["--constraint=a|b"] = {features = "a|b"},
  ["--nodes=1000000"] = {min_nodes = 1000000},
}) do
  code, sentence = submitted(fields)
  want_refusal(what, code, sentence)
end

code = changed({features = "tabc"}, 0)
want("agent-vm's change", code, slurm.SUCCESS)
code = changed({comment = "mine"})
want("a comment's change", code, slurm.SUCCESS)
code, sentence = changed({features = "tabc"})
want_refusal("a change of features", code, sentence)
code, sentence = changed({req_nodes = ""})
want_refusal("a change of nodes", code, sentence)

-- Whatever goes wrong inside is a refusal.
local broken = setmetatable({}, {__index = function() error("no such job") end})
said = nil
code = slurm_job_submit(broken, {}, 1000)
want_refusal("a fault", code, said)
want_refusal("a fault in a change", slurm_job_modify(broken, broken, {}, 1000), "in the log")

code, sentence = submitted({user_id = 0}, 0)
want_refusal("root", code, sentence)
print(sentence)
