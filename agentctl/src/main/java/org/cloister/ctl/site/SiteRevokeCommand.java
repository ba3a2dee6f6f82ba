package org.cloister.ctl.site;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.RevocationList;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code agentctl site revoke}: revokes names, and signs the next list. */
@Command(
        name = "revoke",
        description = "Revokes hosts and relays, and signs the next revocation list, valid for 24 "
                + "hours; without names it only renews the list. agentctl site serve delivers it to the relays.")
final class SiteRevokeCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SiteOption of;

    @Option(
            names = "--why",
            paramLabel = "TEXT",
            defaultValue = "by hand",
            description = "Reason, stored with the name; default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init")
    private String why;

    @Parameters(
            paramLabel = "NAME",
            arity = "0..*",
            description = "Full names, such as h1.host.site.cloister.internal.")
    private List<String> names = List.of();

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SigningKeyOptions keys;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        Instant now = Instant.now();
        try (SiteCaFolder site = of.open(keys)) {
            for (String name : names) {
                site.registrationAuthority().revoke(CertificateName.parse(name), why, now);
            }
            RevocationList list = site.signRevocationList(now);
            output.print(new KeyValueOutput()
                    .with("list", site.revocationListFile())
                    .with("number", list.number())
                    .with("revoked", list.certificates())
                    .with("until", list.nextUpdate()));
        }
        return ExitCode.OK.code();
    }
}
