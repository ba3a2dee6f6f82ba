package org.cloister.ctl.site;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.function.UnaryOperator;
import org.cloister.ctl.Cli;

/** Enrolment of a machine by files, with the commands. */
final class FileEnrolment {
    private FileEnrolment() {}

    /**
     * Enrols a machine at the site in the folder {@code ca}: its key is ID.key, its certificate ID.pem.
     *
     * @param at returns the path of a file
     */
    static void run(Cli cli, UnaryOperator<String> at, String role, String id) throws IOException {
        String token = at.apply(id + ".token");
        String request = at.apply(id);
        String key = at.apply(id + ".key");
        String site = at.apply("ca");
        succeeds(cli.runWithSecret("site", "enrol", "--site", site, "--role", role, "--token", token, id));
        succeeds(cli.run(
                "site", "request", "--role", role, "--token", token, "--machine-key", key, "--out", request, id));
        succeeds(cli.runWithSecret("site", "issue", "--site", site, request));
    }

    private static void succeeds(Cli.Result result) {
        assertThat(result.err()).isEmpty();
        assertThat(result.status()).isZero();
    }
}
