package org.cloister.ctl.site;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.Pem;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.identity.ProjectHistory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code agentctl site approve}: signs the site's approval of a project. */
@Command(
        name = "approve",
        description = "Signs the site's approval of a project, with the account to charge and the project's quota.")
final class SiteApproveCommand implements Callable<Integer> {
    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SiteOption of;

    @Option(
            names = "--account",
            paramLabel = "NAME",
            required = true,
            description = "Account that Global Slurm charges.")
    @SuppressWarnings("NullAway.Init")
    private String account;

    @Option(
            names = "--number",
            paramLabel = "NUMBER",
            required = true,
            description = "Number of this approval, higher than in each earlier one of the project.")
    private long number;

    @Option(
            names = "--days",
            paramLabel = "NUMBER",
            defaultValue = "366",
            description = "Days until it expires, at most 366; default: ${DEFAULT-VALUE}.")
    private long days;

    @Option(names = "--nodes", paramLabel = "NUMBER", required = true, description = "Nodes.")
    private int nodes;

    @Option(names = "--cpus", paramLabel = "NUMBER", required = true, description = "CPUs.")
    private int cpus;

    @Option(names = "--memory", paramLabel = "NUMBER", required = true, description = "Memory in MiB.")
    private long memory;

    @Option(names = "--vms", paramLabel = "NUMBER", required = true, description = "VMs.")
    private int vms;

    @Option(names = "--circuits", paramLabel = "NUMBER", required = true, description = "Circuits.")
    private int circuits;

    @Option(names = "--links", paramLabel = "NUMBER", required = true, description = "Links of devices.")
    private int links;

    @Option(
            names = "--tickets",
            paramLabel = "NUMBER",
            defaultValue = "64",
            description = "Tickets in flight; default: ${DEFAULT-VALUE}.")
    private int tickets;

    @Option(
            names = "--feature",
            paramLabel = "NAME",
            description = "A feature of Global Slurm's nodes that jobs may require; tickets name it by its position.")
    private List<String> features = List.of();

    @Option(names = "--out", paramLabel = "FILE", required = true, description = "File for the approval.")
    @SuppressWarnings("NullAway.Init")
    private Path out;

    @Parameters(paramLabel = "GENESIS", description = "The project's genesis document, signed by its owners.")
    @SuppressWarnings("NullAway.Init")
    private Path genesis;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SigningKeyOptions keys;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        Instant now = Instant.now();
        String project = ProjectHistory.fromGenesis(Pem.readBounded(genesis, ProjectDocument.MAX_BYTES))
                .id();
        ProjectApproval approval = approval(project, now);
        try (SiteCaFolder site = of.open(keys)) {
            AtomicFile.replace(
                    out,
                    DsseEnvelope.sign(ProjectApproval.TYPE, approval.payload(), site.key())
                            .bytes());
        } catch (GeneralSecurityException e) {
            throw new IOException("approval of " + project + ": cannot be signed: " + e.getMessage(), e);
        }
        output.print(new KeyValueOutput()
                .with("project", project)
                .with("account", account)
                .with("until", approval.validUntil())
                .with("approval", out));
        return ExitCode.OK.code();
    }

    private ProjectApproval approval(String project, Instant now) throws MalformedException {
        try {
            return new ProjectApproval(
                    project,
                    number,
                    account,
                    now,
                    now.plus(Duration.ofDays(days)),
                    new ProjectApproval.Quota(nodes, cpus, memory, vms, circuits, links, tickets),
                    features);
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }
}
