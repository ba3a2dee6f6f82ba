package org.cloister.ctl.vm;

import java.time.Instant;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;

/** File of a job status as docs/slurm.md defines it. */
record JobStatusFile(String job, String phase, String waitsOn, String text, Instant since) {
    static final Pattern JOB = Pattern.compile("[1-9][0-9]{0,9}([_+](0|[1-9][0-9]{0,6}))?");

    private static final int MAX_BYTES = 2048;
    private static final int VERSION = 1;
    private static final Pattern PHASE = Pattern.compile("[a-z]{1,20}");
    private static final Pattern WAITS_ON = Pattern.compile("[ -~]{0,80}");
    private static final Pattern TEXT = Pattern.compile("[ -~]{0,400}");

    static JobStatusFile parse(byte[] bytes) throws MalformedException {
        StrictJson json = StrictJson.read(bytes, MAX_BYTES);
        json.number("v", VERSION, VERSION);
        JobStatusFile status = new JobStatusFile(
                json.text("job", JOB),
                json.text("phase", PHASE),
                json.text("waitsOn", WAITS_ON),
                json.text("text", TEXT),
                json.time("since"));
        json.requireNothingElse();
        return status;
    }

    /** Returns the status as one line. */
    String toSentence() {
        return phase + (waitsOn.isEmpty() ? "" : ", waits on " + waitsOn) + ", since " + since + ": " + text;
    }
}
