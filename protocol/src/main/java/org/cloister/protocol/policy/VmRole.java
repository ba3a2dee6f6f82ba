package org.cloister.protocol.policy;

import java.util.Locale;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;

/** Role of a VM. */
public enum VmRole {
    /** Holds the project's keys and its Local Slurm. */
    CONTROLLER,
    /** Runs one job's tasks on one node. */
    WORKER;

    private static final Pattern WORDS = Pattern.compile(CONTROLLER + "|" + WORKER);

    public static VmRole read(StrictJson json, String key) throws MalformedException {
        return valueOf(json.text(key, WORDS).toUpperCase(Locale.ROOT));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
