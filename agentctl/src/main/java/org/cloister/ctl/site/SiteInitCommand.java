package org.cloister.ctl.site;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.KeyOptions;
import org.cloister.ctl.output.Facts;
import org.cloister.ctl.output.OutputOption;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code agentctl site init}: a new CA. */
@Command(
        name = "init",
        description =
                "Makes a site's CA in a new folder, with its key under a passphrase or on a token, and its first revocation list.")
final class SiteInitCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SiteOption of;

    @Option(
            names = "--years",
            paramLabel = "NUMBER",
            defaultValue = "10",
            description = "How long the CA lives, at most 10; default: ${DEFAULT-VALUE}.")
    private int years;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private KeyOptions keys;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        Instant now = Instant.now();
        try (SiteFolder site = SiteFolder.init(of.folder(), keys, Duration.ofDays(365L * years), now)) {
            output.print(new Facts()
                    .with("key", site.key().verificationKey())
                    .with("folder", of.folder())
                    .with("list", site.list(now).number()));
        }
        return ExitCode.OK.code();
    }
}
