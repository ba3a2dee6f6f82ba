package org.cloister.preflight;

import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.UndeterminedException;

/** Checks that unprivileged users cannot create user namespaces, which expose most of the kernel's holes to a job. */
record UserNamespacesCheck() implements PreflightCheck {
    private static final String DEBIAN = "/proc/sys/kernel/unprivileged_userns_clone";
    private static final String MAXIMUM = "/proc/sys/user/max_user_namespaces";

    @Override
    public String name() {
        return "user-namespaces";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        Optional<String> unprivileged = machine.firstWord(DEBIAN);
        Optional<String> maximum = machine.firstWord(MAXIMUM);
        if (unprivileged.filter("0"::equals).isPresent()
                || maximum.filter("0"::equals).isPresent()) {
            return PreflightFinding.ok(this, "off for unprivileged users");
        }
        if (unprivileged.isEmpty() && maximum.isEmpty()) {
            return PreflightFinding.ok(this, "this kernel has none");
        }
        String remedy = unprivileged.isPresent()
                ? "sysctl -w kernel.unprivileged_userns_clone=0"
                : "sysctl -w user.max_user_namespaces=0";
        return PreflightFinding.failure(this, "unprivileged users can make user namespaces", remedy);
    }
}
