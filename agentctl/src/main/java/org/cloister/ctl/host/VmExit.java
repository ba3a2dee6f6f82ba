package org.cloister.ctl.host;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.Optional;

/** End of a job step's VM as agent-host reports it, with the exit status that Slurm receives. */
record VmExit(Code code, String phase, String text, String hint) {
    enum Code {
        DONE(0),
        STOPPED(3),
        REFUSED(4),
        UNAVAILABLE(5),
        GUEST(6),
        HOST(7);

        private final int status;

        Code(int status) {
            this.status = status;
        }

        int status() {
            return status;
        }

        private static Optional<Code> of(String word) {
            return Arrays.stream(values())
                    .filter(each -> each.name().equalsIgnoreCase(word))
                    .findFirst();
        }
    }

    /** Parses an end. A code that only a later agent-host knows counts as a failure of the host. */
    static VmExit of(JsonNode end) {
        return new VmExit(
                Code.of(end.path("code").asText()).orElse(Code.HOST),
                end.path("phase").asText(),
                end.path("text").asText(),
                end.path("hint").asText());
    }

    static VmExit refused(JsonNode refusal) {
        return new VmExit(
                Code.REFUSED,
                "",
                refusal.path("text").asText(),
                refusal.path("hint").asText());
    }

    static VmExit unavailable(String text) {
        return new VmExit(Code.UNAVAILABLE, "", text, "");
    }
}
