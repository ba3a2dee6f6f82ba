package org.cloister.lab.guide;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabException;
import org.cloister.lab.ParallelActions;
import org.cloister.lab.Poll;
import org.cloister.lab.ProgressLog;
import org.cloister.lab.booted.BootedMachine;
import org.cloister.lab.booted.BootedSite;
import org.cloister.lab.booted.OwnDevice;
import org.cloister.lab.guide.GuideStep.Carried;
import org.cloister.lab.guide.GuideStep.MachineCommands;
import org.cloister.lab.guide.GuideStep.PersonCommands;
import org.cloister.lab.guide.GuideStep.PersonFile;
import org.cloister.lab.guide.GuideStep.PlacedFile;
import org.cloister.lab.guide.GuideStep.Settings;

/** Carries out a guide's steps on a booted site, as its readers would: at terminals, in order, on machines side by side. */
final class GuideRun {
    /** For a block; the slowest opens a project or waits for a job. */
    private static final Duration LIMIT = Duration.ofMinutes(20);

    private static final Duration PAUSE = Duration.ofSeconds(5);

    /** A terminal stays in the folder to which its user has changed. */
    private static final String AT_TERMINAL = """
            cd "$(cat ~/.guide-folder 2>/dev/null || echo ~)"
            trap 'pwd >~/.guide-folder' EXIT
            %s""";

    private final BootedSite site;
    /** What readers replace, and by what. */
    private final Map<String, String> names = new LinkedHashMap<>();

    GuideRun(BootedSite site) {
        this.site = site;
    }

    /** Has each later step replace a name in capitals, or an address of the guide's example. */
    void replace(String name, String value) {
        names.put(name, value);
    }

    /** Carries a step out; any exit status but 0 is an error that contains the output. */
    void run(GuideStep step) throws IOException {
        long from = System.nanoTime();
        carryOut(step);
        System.out.printf(
                "guide: line %d, %s, %.1f s%n",
                step.line(), step.getClass().getSimpleName(), (System.nanoTime() - from) / 1e9);
    }

    private void carryOut(GuideStep step) throws IOException {
        if (step instanceof MachineCommands commands) {
            onMachines(commands);
        } else if (step instanceof PersonCommands commands) {
            atDevice(commands);
        } else if (step instanceof PersonFile file) {
            write(file);
        } else if (step instanceof Settings settings) {
            set(settings);
        } else if (step instanceof Carried carried) {
            carry(carried);
        }
    }

    private void onMachines(MachineCommands step) throws IOException {
        List<ProgressLog.Action> actions = new ArrayList<>();
        for (String name : step.machines()) {
            BootedMachine machine = site.machine(name);
            actions.add(() -> {
                machine.write("/root/.guide", AT_TERMINAL.formatted(replaced(step.script(name))));
                type(
                        "line " + step.line() + " on " + name,
                        step.repeated(),
                        () -> machine.terminal("bash -euo pipefail ~/.guide"));
            });
        }
        ParallelActions.run(actions);
    }

    private void atDevice(PersonCommands step) throws IOException {
        OwnDevice device = site.device(step.person());
        Path script = device.home().resolve(".guide");
        Files.writeString(script, AT_TERMINAL.formatted(replaced(step.script())));
        type("line " + step.line() + " as " + step.person(), step.repeated(), () -> device.terminal(script));
    }

    private void write(PersonFile step) throws IOException {
        Path file = site.device(step.person()).home().resolve(step.name());
        Files.writeString(file, replaced(step.content()));
    }

    private void set(Settings step) throws IOException {
        BootedMachine machine = site.machine(step.machine());
        String before = machine.succeed("cat " + step.name());
        machine.write(step.name(), TomlSettings.apply(before, replaced(step.keys())));
    }

    private void carry(Carried step) throws IOException {
        for (PlacedFile to : step.to()) {
            if (step.from().place().equals("web")) {
                site.machine(to.place())
                        .succeed("mkdir -p " + to.name() + " && curl -fsS http://outside/"
                                + step.from().name() + ".tar | tar -x -C " + to.name());
            } else {
                put(to, read(step.from()));
            }
        }
    }

    private byte[] read(PlacedFile file) throws IOException {
        return isMachine(file.place())
                ? Base64.getMimeDecoder().decode(site.machine(file.place()).succeed("base64 " + file.name()))
                : Files.readAllBytes(site.device(file.place()).home().resolve(file.name()));
    }

    private void put(PlacedFile file, byte[] content) throws IOException {
        if (isMachine(file.place())) {
            site.machine(file.place())
                    .command("base64 -d >" + file.name())
                    .reading(Base64.getEncoder().encodeToString(content))
                    .succeed();
        } else {
            Files.write(site.device(file.place()).home().resolve(file.name()), content);
        }
    }

    private boolean isMachine(String place) {
        return site.machines().stream().anyMatch(machine -> machine.name().equals(place));
    }

    private String replaced(String text) {
        String result = text;
        for (Map.Entry<String, String> each : names.entrySet()) {
            result = result.replace(each.getKey(), each.getValue());
        }
        return result;
    }

    private static void type(String what, boolean repeated, ProgressLog.Computation<LabCommand> typed)
            throws IOException {
        List<LabCommand.Output> outputs = new ArrayList<>();
        Poll.until(what, repeated ? LIMIT : Duration.ZERO, "type it by hand", PAUSE, () -> {
            outputs.add(0, typed.run().within(LIMIT).run());
            if (outputs.get(0).exit() != 0 && !repeated) {
                throw new LabException(what + ": exit " + text(outputs.get(0)), "type it by hand");
            }
            return outputs.get(0).exit() == 0;
        });
    }

    private static String text(LabCommand.Output output) {
        return output.exit() + ": " + output.out() + output.err();
    }

    /** Returns a guide's steps on this site. */
    List<GuideStep> steps(Path guide) throws IOException {
        List<String> hosts = site.hosts().stream().map(BootedMachine::name).toList();
        return new GuideHosts(hosts).steps(GuideStep.parse(Files.readString(guide)));
    }
}
