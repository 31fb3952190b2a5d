-- Placement of jobs by what earlier runs of their application lost: an example for JobSubmitPlugins=lua of slurm.conf. It reads the file
-- that `tailback-placement --apply` writes, and requests few switches or a preferred feature where the user requested none. It refuses no
-- job and uses no network. A site with a job_submit.lua of its own calls `tailback_place` from there.

-- true: it logs what it would do, and changes no job.
local DRY_RUN = true
local FILE = "/var/lib/tailback-placement/advice"
-- An older file changes nothing; nor does one that is larger, or not written by tailback-placement.
local AGE_MAX_S = 1800
local BYTES_MAX = 65536

-- What the file has for an application, by key; nil without it.
local function advice_for(application)
    local file = io.open(FILE, "r")
    if not file then return nil end
    local text = file:read(BYTES_MAX + 1)
    file:close()
    if not text or #text > BYTES_MAX then return nil end
    local written_s = tonumber(text:match("^tailback%-placement 1 (%d+)\n"))
    if not written_s or math.abs(os.time() - written_s) > AGE_MAX_S then return nil end
    for line in text:gmatch("[^\n]+") do
        local name, words = line:match("^([^\t]*)\t(.*)$")
        if name == application then
            local advice = {}
            for key, value in words:gmatch("([%a_]+)=([^\t]*)") do advice[key] = value end
            return advice
        end
    end
    return nil
end

local function is_unset(number) return number == nil or number == 0 or number >= slurm.NO_VAL end

local function is_empty(text) return text == nil or text == "" end

local function within(text, least, most)
    local number = tonumber(text)
    return number and number >= least and number <= most and number or nil
end

-- Requests what the file has for the job's application, where the user requested nothing of the kind.
function tailback_place(job_desc)
    if is_empty(job_desc.name) or not is_empty(job_desc.req_nodes) then return end
    local advice = advice_for(job_desc.name)
    if not advice then return end
    local done = {}
    local switches, wait_s = within(advice.switches, 1, 1000), within(advice.wait_s, 0, 86400)
    if switches and wait_s and is_unset(job_desc.req_switch) then
        if not DRY_RUN then
            job_desc.req_switch = switches
            job_desc.wait4switch = wait_s
        end
        done[#done + 1] = string.format("switches=%d wait_s=%d", switches, wait_s)
    end
    -- A preferred feature would override the user's constraint.
    local feature = advice.prefer and advice.prefer:match("^[%w_][%w_.-]*$")
    if feature and is_empty(job_desc.features) and is_empty(job_desc.prefer) then
        if not DRY_RUN then job_desc.prefer = feature end
        done[#done + 1] = "prefer=" .. feature
    end
    if #done == 0 then return end
    local words = string.format("tailback-placement: %s, %s;", table.concat(done, " "), (advice.why or ""):sub(1, 120))
    slurm.log_info("%s%s for %s", DRY_RUN and "dry run: " or "", words, job_desc.name)
    if not DRY_RUN then
        job_desc.admin_comment = is_empty(job_desc.admin_comment) and words or job_desc.admin_comment .. " " .. words
    end
end

function slurm_job_submit(job_desc, part_list, submit_uid)
    -- An error here must not refuse the job.
    local good, why = pcall(tailback_place, job_desc)
    if not good then slurm.log_error("tailback-placement: %s", tostring(why)) end
    return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
    return slurm.SUCCESS
end

return slurm.SUCCESS
