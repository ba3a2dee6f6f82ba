package org.cloister.preflight;

import java.util.List;
import java.util.Optional;
import org.cloister.preflight.machine.InspectedMachine;
import org.cloister.preflight.machine.ProgramResult;
import org.cloister.preflight.machine.UndeterminedException;

/** Checks the library that opens volumes, libcryptsetup.so.12, and the version that its command reports. */
record CryptsetupCheck() implements PreflightCheck {
    private static final MajorMinorVersion OLDEST = new MajorMinorVersion(2, 4);
    private static final String REMEDY = "apt-get install cryptsetup-bin libcryptsetup12, or dnf install cryptsetup";
    private static final List<String> FOLDERS = List.of(
            "/usr/lib/x86_64-linux-gnu",
            "/lib/x86_64-linux-gnu",
            "/usr/lib/aarch64-linux-gnu",
            "/usr/lib64",
            "/usr/lib");

    @Override
    public String name() {
        return "cryptsetup";
    }

    @Override
    public PreflightFinding run(InspectedMachine machine) throws UndeterminedException {
        boolean library = false;
        for (String folder : FOLDERS) {
            library |= machine.list(folder).orElse(List.of()).contains("libcryptsetup.so.12");
        }
        if (!library) {
            return PreflightFinding.failure(this, "libcryptsetup.so.12 is missing", REMEDY);
        }
        Optional<ProgramResult> result = machine.run("cryptsetup", "--version");
        if (result.isEmpty()) {
            return PreflightFinding.warning(this, "libcryptsetup.so.12 is there, cryptsetup is missing", REMEDY);
        }
        Optional<MajorMinorVersion> version =
                MajorMinorVersion.parseFirst(result.get().out());
        if (version.isEmpty()) {
            throw new UndeterminedException(
                    "cryptsetup --version: " + result.get().firstErrorLine(), "cryptsetup --version");
        }
        return version.get().compareTo(OLDEST) < 0
                ? PreflightFinding.failure(this, "cryptsetup " + version.get() + " is older than " + OLDEST, REMEDY)
                : PreflightFinding.ok(this, "libcryptsetup.so.12, cryptsetup " + version.get());
    }
}
