package org.cloister.ctl.site;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code agentctl site}: commands on the machine of the site's CA, and on the machines that it enrols. */
@Command(
        name = "site",
        description =
                "Runs a site's CA: enrols hosts and relays, renews their certificates, approves projects, revokes.",
        subcommands = {
            SiteInitCommand.class,
            SiteEnrolCommand.class,
            SiteRequestCommand.class,
            SiteIssueCommand.class,
            SiteApproveCommand.class,
            SiteRevokeCommand.class,
            SiteServeCommand.class
        })
public final class SiteCommand implements Runnable {
    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before run
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "missing command");
    }
}
