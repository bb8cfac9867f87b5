class Doorward < Formula
  desc "@ABOUT@"
  homepage "https://github.com/doorward/doorward"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  @ARCHIVES@
  def install
    bin.install "doorward"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/doorward.bash" => "doorward"
    zsh_completion.install "completions/doorward.zsh" => "_doorward"
    fish_completion.install "completions/doorward.fish"
  end

  test do
    assert_match "BLOCK", shell_output("#{bin}/doorward check --bare 'rm -rf /'", 20)
  end
end
