package org.cloister.vm.controller.status;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.slurm.LogText;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;

/**
 * A job's status as stored in a file, docs/slurm.md, "The file of a status".
 *
 * @param since start of this phase with this {@code waitsOn}, to the second
 */
record JobStatusDocument(LocalSlurmJobId job, JobStatus status, Instant since) {
    static final int MAX_BYTES = 2048;

    private static final JsonMapper JSON = new JsonMapper();

    private static final int VERSION = 1;
    private static final Pattern PHASE = Pattern.compile("[a-z]{1,20}");
    private static final Pattern WAITS_ON = Pattern.compile("[ -~]{0,80}");
    private static final Pattern TEXT = Pattern.compile("[ -~]{0,400}");
    private static final Pattern JOB = Pattern.compile("[0-9_+]{1,18}");

    /** Returns a status that can be written and read again: printable, bounded. */
    static JobStatus fit(JobStatus status) {
        String waitsOn = LogText.printable(status.waitsOn());
        return new JobStatus(
                PHASE.matcher(status.phase()).matches() ? status.phase() : "failed",
                waitsOn.length() <= 80 ? waitsOn : waitsOn.substring(0, 77) + "...",
                LogText.printable(status.text()));
    }

    static JobStatusDocument parse(byte[] bytes) throws MalformedException {
        StrictJson json = StrictJson.read(bytes, MAX_BYTES);
        json.number("v", VERSION, VERSION);
        String job = json.text("job", JOB);
        JobStatus status =
                new JobStatus(json.text("phase", PHASE), json.text("waitsOn", WAITS_ON), json.text("text", TEXT));
        Instant since = json.time("since");
        json.requireNothingElse();
        try {
            return new JobStatusDocument(new LocalSlurmJobId(job), status, since);
        } catch (IllegalArgumentException e) {
            throw new MalformedException(String.valueOf(e.getMessage()), e);
        }
    }

    byte[] bytes() {
        ObjectNode json = JSON.createObjectNode();
        json.put("v", VERSION)
                .put("job", job.text())
                .put("phase", status.phase())
                .put("waitsOn", status.waitsOn())
                .put("text", status.text())
                .put("since", since.toString());
        try {
            return (JSON.writeValueAsString(json) + "\n").getBytes(StandardCharsets.UTF_8);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree of texts and numbers was not written", e);
        }
    }
}
