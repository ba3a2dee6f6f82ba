package org.cloister.ctl;

import java.util.LinkedHashMap;
import java.util.Map;
import org.cloister.preflight.FindingSeverity;

/** Exit statuses of agentctl, from which the man pages list them. Statuses above 63 are those of sysexits.h. */
public enum ExitCode {
    OK(0, "All is well."),
    WARNING(1, "The worst finding is a warning."),
    FAILURE(
            2,
            "The worst finding is a failure, an image is not what its manifest says, a tunnel is down, or "
                    + "something could not"
                    + " be read."),
    USAGE(64, "The command line is wrong; nothing was done."),
    INTERNAL(70, "A defect of agentctl itself; --debug shows where.");

    private final int code;
    private final String sentence;

    ExitCode(int code, String sentence) {
        this.code = code;
        this.sentence = sentence;
    }

    public int code() {
        return code;
    }

    public static ExitCode of(FindingSeverity worst) {
        return switch (worst) {
            case OK -> OK;
            case WARNING -> WARNING;
            case FAILURE -> FAILURE;
        };
    }

    static Map<String, String> table() {
        Map<String, String> table = new LinkedHashMap<>();
        for (ExitCode exit : values()) {
            table.put(String.valueOf(exit.code), exit.sentence);
        }
        return table;
    }
}
