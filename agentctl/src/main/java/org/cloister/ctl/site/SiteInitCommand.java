package org.cloister.ctl.site;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code agentctl site init}: creates a site CA. */
@Command(
        name = "init",
        description = "Makes a site's CA in a new folder, with its key under a passphrase or on a token, and its first "
                + "revocation list.")
final class SiteInitCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SiteOption of;

    @Option(
            names = "--years",
            paramLabel = "NUMBER",
            defaultValue = "10",
            description = "Years until the CA expires, at most 10; default: ${DEFAULT-VALUE}.")
    private int years;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SigningKeyOptions keys;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        Instant now = Instant.now();
        try (SiteCaFolder site = SiteCaFolder.create(of.folder(), keys, Duration.ofDays(365L * years), now)) {
            output.print(new KeyValueOutput()
                    .with("key", site.key().verificationKey())
                    .with("folder", of.folder())
                    .with("list", site.signRevocationList(now).number()));
        }
        return ExitCode.OK.code();
    }
}
