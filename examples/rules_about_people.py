# %% [markdown]
# # Rules about known people
#
# A rule `age=65+, smoker=yes => diabetes` is about a group. Somebody who knows your age, sex and smoking finds the rules that are about you,
# and with them what you probably have, or certainly. Open this file as a notebook, or run it as a script.

# %%
import pandas as pd

import tacit

patients = pd.read_csv("examples/patients.csv")
known = ["age", "sex", "smoker"]

# %%
rules = tacit.mine_rules(patients, qi=known, sa="diagnosis", min_support=20, min_confidence="50%")
rules

# %%
rules.to_frame().head()

# %% [markdown]
# ## What the rules say about each person
#
# With the data, or with everybody's quasi-identifiers alone (`known=patients[known]`), the audit estimates everybody's diagnosis and proves
# bounds. The picture shows how surely people are guessed.

# %%
audit = tacit.audit(rules, data=patients, k=5, max_posterior=0.8)
audit

# %%
audit.posterior.plot()

# %%
audit.posterior.to_frame().sort_values("posterior", ascending=False).head(10)

# %% [markdown]
# ## Which rules to withhold

# %%
repair = audit.repair(seconds=60)
repair

# %%
repair.release.to_frame().head()

# %% [markdown]
# ## The same people in a decision tree
#
# A tree publishes how many people of each leaf have each class. Numbers are cut where the tree cuts them.

# %%
from sklearn.tree import DecisionTreeClassifier  # noqa: E402 - shown where it is used

tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(pd.get_dummies(patients[known]), patients["diagnosis"])
leaves = tacit.audit(tree, data=patients, sa="diagnosis", k=5)
leaves

# %%
leaves.to_frame(top=5)
