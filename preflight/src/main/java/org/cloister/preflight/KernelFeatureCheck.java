package org.cloister.preflight;

import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/**
 * Checks whether the running kernel has a feature, built in or as a module that can be loaded.
 *
 * @param module as modprobe accepts it
 * @param option its CONFIG_ name, without the prefix
 * @param loss what is lost without it, for the reader of the finding
 */
record KernelFeatureCheck(String name, FindingSeverity ifAbsent, String module, String option, String loss)
        implements PreflightCheck {
    static KernelFeatureCheck on(String name, FindingSeverity ifAbsent, String module, String option) {
        return new KernelFeatureCheck(name, ifAbsent, module, option, "");
    }

    KernelFeatureCheck without(String newLoss) {
        return new KernelFeatureCheck(name, ifAbsent, module, option, newLoss);
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        String release = KernelVersionCheck.release(machine);
        Optional<String> present = proof(machine, release);
        if (present.isPresent()) {
            return PreflightFinding.ok(this, module + " " + present.get());
        }
        Optional<String> configured = configured(machine, release);
        boolean modulesKnown =
                machine.read("/lib/modules/" + release + "/modules.dep").isPresent();
        if (!modulesKnown && (configured.isEmpty() || configured.get().equals("m"))) {
            throw new UndeterminedException(
                    "nothing shows whether this kernel has " + module + ": /lib/modules/" + release
                            + " and a kernel configuration are missing",
                    "modprobe " + module);
        }
        String text = "Linux " + release + " has no " + module + (loss.isEmpty() ? "" : ": " + loss);
        return PreflightFinding.of(
                this, ifAbsent, text, "boot a kernel with CONFIG_" + option + ", as the distribution's own has");
    }

    private Optional<String> proof(InspectedMachine machine, String release) throws UndeterminedException {
        if (machine.isFolder("/sys/module/" + module) || registered(machine)) {
            return Optional.of("is there");
        }
        String modules = "/lib/modules/" + release;
        if (lists(machine, modules + "/modules.builtin")
                || configured(machine, release).filter("y"::equals).isPresent()) {
            return Optional.of("is built in");
        }
        return lists(machine, modules + "/modules.dep") ? Optional.of("can be loaded") : Optional.empty();
    }

    /** Returns whether the kernel's own lists contain the feature, where there is such a list. */
    private boolean registered(InspectedMachine machine) throws UndeterminedException {
        return switch (module) {
            case "tun" -> hasLine(machine, "/proc/misc", "\\s*[0-9]+ tun");
            default -> hasLine(machine, "/proc/modules", Pattern.quote(module) + " .*");
        };
    }

    /** Returns y, m or n; empty if no configuration is readable. */
    private Optional<String> configured(InspectedMachine machine, String release) throws UndeterminedException {
        Optional<String> config = machine.read("/boot/config-" + release);
        if (config.isEmpty()) {
            config = machine.read("/proc/config.gz");
        }
        return config.map(text -> text.lines()
                .filter(line -> line.startsWith("CONFIG_" + option + "="))
                .map(line -> line.substring(line.indexOf('=') + 1))
                .findFirst()
                .orElse("n"));
    }

    /**
     * Returns whether a file lists the module; its file's name may have dashes and may be compressed:
     * kernel/drivers/md/dm-crypt.ko.xz.
     */
    private boolean lists(InspectedMachine machine, String file) throws UndeterminedException {
        String name = module.replace("_", "[-_]");
        return hasLine(machine, file, "(.*/)?" + name + "\\.ko(\\.(gz|xz|zst))?(:.*)?");
    }

    private static boolean hasLine(InspectedMachine machine, String file, String pattern) throws UndeterminedException {
        Pattern line = Pattern.compile(pattern);
        return machine.read(file).stream()
                .flatMap(String::lines)
                .anyMatch(text -> line.matcher(text).matches());
    }
}
