package org.cloister.ctl.opening;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.circuit.RelayLinkOptions;
import org.cloister.ctl.drive.DriveKeySealer;
import org.cloister.ctl.key.LoginFolder;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.output.TextTable;
import org.cloister.ctl.profile.ProfileOption;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code agentctl project open}: requests, verifies and unlocks the project's controlling VM. */
@Command(
        name = "open",
        description = "Asks the relay for the project's controlling VM, signed by the login's opener "
                + "key, waits until the VM runs, appraises it by the project policy and unlocks its "
                + "drive. A controlling VM that already runs is stopped, for a project has one. A login that has "
                + "ended is renewed first.")
@SuppressWarnings("NullAway.Init") // picocli sets the fields before call
public final class ProjectOpenCommand implements Callable<Integer> {
    /** Time for a relay to accept the opening, with all retries. */
    private static final Duration EXPIRES = Duration.ofMinutes(10);

    @Parameters(
            paramLabel = "DRIVE",
            description = "Name of the drive: a-z, 0-9 and -, a letter first. The VM has the same name.")
    private String drive;

    @Mixin
    private OpeningShapeOptions shape;

    @Option(
            names = "--make",
            paramLabel = "SIZE",
            defaultValue = Option.NULL_VALUE,
            converter = MebibyteConverter.class,
            description = "Size of the drive to make if there is none; without this option the drive must exist.")
    private @Nullable Integer makeMib;

    @Option(
            names = "--epoch",
            paramLabel = "NUMBER",
            description = "Epoch of the opening, if it must be higher than the next one, as a relay's "
                    + "refusal states; default: one more than the highest that this device used.")
    private @Nullable Long epoch;

    @Option(
            names = "--epoch-file",
            paramLabel = "FILE",
            description = "File of the highest epoch that this device used; default: "
                    + "$XDG_STATE_HOME/cloister/PROJECT/opening-epoch, below ~/.local/state unless that is set.")
    private @Nullable Path epochFile;

    @Option(names = "--no-wait", description = "Return when the relay has accepted the opening.")
    private boolean noWait;

    @Mixin
    private UnlockOptions unlock;

    @Mixin
    private RetryTimeOption retryTime;

    @Mixin
    private RelayLinkOptions link;

    @Mixin
    private OutputOption output;

    @Spec
    private CommandSpec spec;

    @Override
    @SuppressWarnings("try") // the key is declared only to be closed
    public Integer call() throws IOException, InterruptedException {
        ProjectHistory owners = link.owners();
        Optional<OpeningDefaults> stored = readDefaults(owners.id());
        OpeningDefaults used = unlock.defaults(shape, stored, driveKeyPlace(owners.id()));
        boolean remembers = shape.isRemembered() || unlock.isNewDrive() || stored.isEmpty();
        Opening requested = wanted(owners.id(), used);
        TrustStore trustStore = link.trustStore(owners);
        LoginFolder login = link.login(owners);
        if (unlock.renewLogin(link.project(), owners, login, Instant.now())) {
            print("login of the day: made a new one in " + login.path());
        }
        OpeningSigner opener = OpeningSigner.of(login, trustStore);
        if (noWait || unlock.isSkipped()) {
            return open(requested, opener, owners, trustStore, null);
        }
        ControllerUnlock.Terms terms = unlock.prepare(link.project(), owners, trustStore, opener, drive, used);
        try (DriveKeySealer sealer = terms.drive()) {
            int status = open(requested, opener, owners, trustStore, terms);
            if (remembers && status == ExitCode.OK.code()) {
                used.write(defaultsFile(owners.id()));
            }
            return status;
        }
    }

    /** Returns what an earlier opening of the drive stored; a wrong name of a drive is refused later, and has none. */
    private Optional<OpeningDefaults> readDefaults(String project) throws IOException {
        return Opening.isDrive(drive) ? OpeningDefaults.read(defaultsFile(project)) : Optional.empty();
    }

    /** Returns the default place of a new drive's key: beside the profile; empty for another drive or no profile. */
    private Optional<Path> driveKeyPlace(String project) throws IOException {
        return unlock.isNewDrive() && link.project().profile().isPresent()
                ? Optional.of(ProfileOption.storeOf(spec).file(project).resolveSibling("drive.key"))
                : Optional.empty();
    }

    private Path defaultsFile(String project) {
        return unlock.driveFolder(project, drive).resolve("defaults");
    }

    /**
     * Requests the opening and, if asked to, unlocks the VM.
     *
     * @param terms null if nothing is to be unlocked
     */
    @SuppressWarnings("try") // the shutdown message is declared only to be installed
    private int open(
            Opening requested,
            OpeningSigner opener,
            ProjectHistory owners,
            TrustStore trustStore,
            ControllerUnlock.@Nullable Terms terms)
            throws IOException, InterruptedException {
        Path kept = epochFile == null
                ? RelayLinkOptions.projectStateFolder(owners.id()).resolve("opening-epoch")
                : epochFile;
        try (OpenerRelaySession relay = OpenerRelaySession.open(link, owners, trustStore, retryTime.time())) {
            Opening opening = at(requested, new OpeningEpochFile(kept).allocate(epoch == null ? 0 : epoch));
            AgentTicketMessage signed = opener.signOpening(opening);
            try (ShutdownMessage message = ShutdownMessage.install(() -> print("opening " + opening.id() + " of epoch "
                    + opening.epoch() + " continues; agentctl project close " + opening.id() + " ends it"))) {
                Predicate<RelayTicketMessage.Update> enough = update ->
                        noWait || update.state() == TicketState.RUNNING || update.state() == TicketState.ENDED;
                RelayTicketMessage.Update update =
                        relay.sendUntil(opening.id(), signed, new AgentTicketMessage.QueryTicket(opening.id()), enough);
                if (terms == null || update.end().isPresent()) {
                    return printEnd(opening, update);
                }
                return unlocked(opening, new ControllerUnlock(terms, opening, relay, this::warn).run());
            }
        }
    }

    private int printEnd(Opening opening, RelayTicketMessage.Update update) throws IOException {
        KeyValueOutput facts = facts(opening);
        OpeningStateOutput.addTo(facts, update);
        output.print(facts.with("next", next(update)));
        return update.end().isPresent() ? ExitCode.FAILURE.code() : ExitCode.OK.code();
    }

    private int unlocked(Opening opening, ControllerUnlock.Outcome outcome) throws IOException {
        if (outcome instanceof ControllerUnlock.Outcome.Ended ended) {
            return printEnd(opening, ended.update());
        }
        String ends = "agentctl project close " + opening.id() + " ends it";
        KeyValueOutput facts = facts(opening).with("state", TicketState.RUNNING);
        if (outcome instanceof ControllerUnlock.Outcome.Denied denied) {
            denied.refused().failures().forEach(failure -> print("denied by " + failure));
            output.print(facts.with("vm", "denied").with("next", ends));
            return ExitCode.FAILURE.code();
        }
        ControllerUnlock.Outcome.Open open = (ControllerUnlock.Outcome.Open) outcome;
        OpeningEpochFile known = new OpeningEpochFile(
                unlock.driveFolder(opening.project(), opening.drive()).resolve("epoch"));
        long before = known.highest();
        long found = open.found().epoch();
        known.store(opening.epoch());
        boolean setBack = !open.found().made() && found < before;
        if (setBack) {
            print("alarm: drive " + opening.drive() + ": want epoch " + before + " or later, which it had last, have "
                    + found + ": somebody reset it to an older state; check what is missing on it, and ask the "
                    + "site's administrators");
        }
        output.print(facts.with("vm", "open")
                .with("host", open.accepted().statement().host())
                .with("level", open.accepted().level())
                .with("found", open.found().made() ? "made" : "epoch " + found)
                .with("next", ends));
        return setBack ? ExitCode.FAILURE.code() : ExitCode.OK.code();
    }

    private void warn(String text) {
        print("warning: " + text);
    }

    /** Returns the opening without its epoch, which is used once and therefore allocated last. */
    private Opening wanted(String project, OpeningDefaults used) {
        Instant now = Instant.now();
        try {
            return new Opening(
                    Ticket.newId(new SecureRandom()),
                    project,
                    epoch == null ? 1 : epoch,
                    now,
                    now.plus(EXPIRES),
                    drive,
                    makeMib == null ? 0 : makeMib,
                    used.cpus(),
                    used.memoryMib(),
                    used.minutes());
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private static Opening at(Opening requested, long epoch) {
        return new Opening(
                requested.id(),
                requested.project(),
                epoch,
                requested.issued(),
                requested.expires(),
                requested.drive(),
                requested.driveMib(),
                requested.cpus(),
                requested.memoryMib(),
                requested.minutes());
    }

    private static KeyValueOutput facts(Opening opening) {
        return new KeyValueOutput()
                .with("opening", opening.id())
                .with("drive", opening.drive())
                .with("epoch", opening.epoch());
    }

    private static String next(RelayTicketMessage.Update update) {
        if (update.end().isEmpty()) {
            return (update.state() == TicketState.RUNNING
                            ? "it is not unlocked; "
                            : "it starts as soon as it has a node; ")
                    + "agentctl project close " + update.ticket() + " ends it";
        }
        TicketEnd end = update.end().get();
        return switch (end) {
            case SUPERSEDED -> "ask the project's other openers: one of them opened it later";
            case WITHDRAWN -> "ask the project's other openers: one of them closed it";
            case REVOKED -> "ask an owner whether this opener, and the site whether the project, was revoked";
            case COMPLETED, TIMEOUT -> "open it again to continue";
            default ->
                "ask the site's operators about " + (update.job() == 0 ? "it" : "job " + update.job())
                        + ", or open it again";
        };
    }

    private void print(String text) {
        PrintWriter err = spec.commandLine().getErr();
        err.println("agentctl: " + TextTable.escapeControls(text));
        err.flush();
    }
}
